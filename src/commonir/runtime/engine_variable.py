"""The environment variable that names the default engine. This module loads nothing."""

ENGINE_VARIABLE = "COMMONIR_ENGINE"
