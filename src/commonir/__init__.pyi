# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.api.comparing import compare as compare
from commonir.api.comparing import compare_outputs as compare_outputs
from commonir.api.comparing import computed_values as computed_values
from commonir.api.fixing import fix as fix
from commonir.api.opening import check as check
from commonir.api.opening import dumps as dumps
from commonir.api.opening import load as load
from commonir.api.opening import load_dialects as load_dialects
from commonir.api.opening import loads as loads
from commonir.api.opening import save as save
from commonir.api.opening import verify as verify
from commonir.api.programs import calling as calling
from commonir.api.programs import convert as convert
from commonir.api.programs import edit as edit
from commonir.api.programs import extract as extract
from commonir.api.programs import infer as infer
from commonir.api.programs import legalize as legalize
from commonir.api.programs import load_rules as load_rules
from commonir.api.programs import lower as lower
from commonir.api.programs import optimize as optimize
from commonir.api.programs import shapes as shapes
from commonir.api.programs import shard as shard
from commonir.api.reference import diff as diff
from commonir.api.reference import operations as operations
from commonir.api.reference import reference_page as reference_page
from commonir.api.reference import show as show
from commonir.api.reference import summarize as summarize
from commonir.api.reference import view as view
from commonir.api.running import engine_options as engine_options
from commonir.api.running import prepare as prepare
from commonir.api.running import profile as profile
from commonir.api.running import random_inputs as random_inputs
from commonir.api.running import read_image as read_image
from commonir.api.running import run as run
from commonir.api.running import run_steps as run_steps
from commonir.api.running import with_externs as with_externs
from commonir.api.running import write_image as write_image
from commonir.base.diagnostics import Diagnostic as Diagnostic
from commonir.base.diagnostics import DiagnosticError as DiagnosticError
from commonir.base.diagnostics import InternalError as InternalError
from commonir.base.sparse import SparseArray as SparseArray
from commonir.base.version import __version__ as __version__
from commonir.ir.module import Module as Module
from commonir.runtime.state import State as State

PUBLIC: dict[str, str]
