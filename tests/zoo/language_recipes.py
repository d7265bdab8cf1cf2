"""Recipes of the networks on tokens and sound."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.zoo import language_models, transformers_models, vision_models
from tests.zoo.network import Array, DimRange, Recipe, Size, TensorInput
from tests.zoo.recipe_parts import finished, half_exact, random_generator


def token_numbers(generator: np.random.Generator, vocabulary: int, length: int) -> Array:
    """Return one row of random token numbers."""
    return generator.integers(1, vocabulary, (1, length), dtype=np.int32)


def attention_mask(length: int) -> Array:
    """Return an attention mask whose last quarter is padding."""
    mask = np.ones((1, length), np.int32)
    mask[:, length - length // 4 :] = 0
    return mask


def bert_recipe(name: str, size: Size, lengths: tuple[int, ...], dim: int | DimRange) -> Recipe:
    """Return BERT-base run on rows of each of `lengths`."""
    config = transformers_models.bert_config(size)
    generator = random_generator(name)
    cases: list[Mapping[str, Array]] = []
    for length in lengths:
        types = np.zeros((1, length), np.int32)
        types[:, length // 2 :] = 1
        tokens = token_numbers(generator, config.vocab_size, length)
        cases.append({"input_ids": tokens, "attention_mask": attention_mask(length), "token_type_ids": types})
    inputs = tuple(TensorInput(feature, (1, dim), is_integer=True) for feature in cases[0])
    module = finished(transformers_models.BertEncoder(config), name)
    return Recipe(module, inputs, ("last_hidden_state", "pooler_output"), tuple(cases))


def bert(size: Size) -> Recipe:
    """Return BERT-base for a fixed number of tokens."""
    length = 128 if size is Size.REAL else 16
    return bert_recipe("bert", size, (length,), length)


def bert_flexible_length(size: Size) -> Recipe:
    """Return BERT-base for any number of tokens."""
    if size is Size.REAL:
        return bert_recipe("bert_flexible_length", size, (128, 37), DimRange(1, 512, 128))
    return bert_recipe("bert_flexible_length", size, (16, 7), DimRange(1, 64, 16))


def minilm(size: Size) -> Recipe:
    """Return MiniLM-L6 as a sentence encoder."""
    length = 128 if size is Size.REAL else 16
    config = transformers_models.minilm_config(size)
    tokens = token_numbers(random_generator("minilm"), config.vocab_size, length)
    case = {"input_ids": tokens, "attention_mask": attention_mask(length)}
    module = finished(transformers_models.SentenceEncoder(config), "minilm")
    inputs = tuple(TensorInput(feature, (1, length), is_integer=True) for feature in case)
    return Recipe(module, inputs, ("last_hidden_state", "sentence_embedding"), (case,))


def gpt2(size: Size) -> Recipe:
    """Return GPT-2 small on a prompt, without a cache."""
    length = 64 if size is Size.REAL else 12
    config = transformers_models.gpt2_config(size)
    case = {"input_ids": token_numbers(random_generator("gpt2"), config.vocab_size, length)}
    module = finished(transformers_models.Gpt2(config, length), "gpt2")
    return Recipe(module, (TensorInput("input_ids", (1, length), is_integer=True),), ("logits",), (case,))


def gpt2_decode(size: Size) -> Recipe:
    """Return one decoding step of GPT-2 small, the cache being inputs and outputs."""
    cached = 127 if size is Size.REAL else 11
    config = transformers_models.gpt2_config(size)
    generator = random_generator("gpt2_decode")
    cache_shape = (1, config.n_head, cached, config.n_embd // config.n_head)
    caches = [f"{part}_{layer}" for layer in range(config.n_layer) for part in ("key", "value")]
    case = {
        "input_ids": token_numbers(generator, config.vocab_size, 1),
        "position_ids": np.full((1, 1), cached, np.int32),
    }
    for cache in caches:
        case[f"past_{cache}"] = half_exact(generator.standard_normal(cache_shape, dtype=np.float32))
    inputs = (
        TensorInput("input_ids", (1, 1), is_integer=True),
        TensorInput("position_ids", (1, 1), is_integer=True),
        *(TensorInput(f"past_{cache}", cache_shape) for cache in caches),
    )
    outputs = ("logits", *(f"present_{cache}" for cache in caches))
    return Recipe(finished(transformers_models.Gpt2DecodeStep(config), "gpt2_decode"), inputs, outputs, (case,))


def clip_text(size: Size) -> Recipe:
    """Return the text tower of CLIP ViT-B/32."""
    config = vision_models.clip_text_config(size)
    length = config.max_position_embeddings
    tokens = token_numbers(random_generator("clip_text"), config.vocab_size - 1, length)
    tokens[0, length // 2] = config.vocab_size - 1
    module = finished(vision_models.TextTower(config, length), "clip_text")
    inputs = (TensorInput("input_ids", (1, length), is_integer=True),)
    return Recipe(module, inputs, ("embedding",), ({"input_ids": tokens},))


def t5_encoder(size: Size) -> Recipe:
    """Return the encoder of T5 small."""
    length = 128 if size is Size.REAL else 12
    config = language_models.t5_config(size)
    tokens = token_numbers(random_generator("t5_encoder"), config.vocab_size, length)
    case = {"input_ids": tokens, "attention_mask": attention_mask(length)}
    inputs = tuple(TensorInput(feature, (1, length), is_integer=True) for feature in case)
    return Recipe(finished(language_models.T5Encoder(config), "t5_encoder"), inputs, ("last_hidden_state",), (case,))


def t5_decoder(size: Size) -> Recipe:
    """Return the decoder of T5 small, which attends to the states of the encoder."""
    source, length = (128, 32) if size is Size.REAL else (12, 6)
    config = language_models.t5_config(size)
    generator = random_generator("t5_decoder")
    case = {
        "decoder_input_ids": token_numbers(generator, config.vocab_size, length),
        "encoder_hidden_states": half_exact(generator.standard_normal((1, source, config.d_model), dtype=np.float32)),
        "encoder_attention_mask": attention_mask(source),
    }
    inputs = (
        TensorInput("decoder_input_ids", (1, length), is_integer=True),
        TensorInput("encoder_hidden_states", (1, source, config.d_model)),
        TensorInput("encoder_attention_mask", (1, source), is_integer=True),
    )
    return Recipe(finished(language_models.T5Decoder(config, length), "t5_decoder"), inputs, ("logits",), (case,))


def whisper_encoder(size: Size) -> Recipe:
    """Return the encoder of Whisper tiny."""
    config = language_models.whisper_config(size)
    shape = (1, config.num_mel_bins, 2 * config.max_source_positions)
    features = half_exact(random_generator("whisper_encoder").standard_normal(shape, dtype=np.float32))
    module = finished(language_models.SpeechEncoder(config), "whisper_encoder")
    return Recipe(
        module, (TensorInput("input_features", shape),), ("last_hidden_state",), ({"input_features": features},)
    )


def llama(size: Size) -> Recipe:
    """Return TinyLlama 1.1B on a prompt, without a cache."""
    length = 64 if size is Size.REAL else 10
    config = language_models.llama_config(size)
    case = {"input_ids": token_numbers(random_generator("llama"), config.vocab_size, length)}
    module = finished(language_models.Llama(config, length), "llama")
    return Recipe(module, (TensorInput("input_ids", (1, length), is_integer=True),), ("logits",), (case,))


def llama_stateful(size: Size) -> Recipe:
    """Return TinyLlama 1.1B with a cache in states: a prompt, then two steps of one token."""
    prompt, context = (64, 256) if size is Size.REAL else (5, 16)
    config = language_models.llama_config(size)
    generator = random_generator("llama_stateful")
    cases: list[Mapping[str, Array]] = []
    done = 0
    for length in (prompt, 1, 1):
        blocked = np.triu(np.full((length, done + length), -60000.0, np.float32), done + 1)
        tokens = token_numbers(generator, config.vocab_size, length)
        cases.append({"input_ids": tokens, "causal_mask": blocked[None, None]})
        done += length
    queries = DimRange(1, context, prompt)
    inputs = (
        TensorInput("input_ids", (1, queries), is_integer=True),
        TensorInput("causal_mask", (1, 1, queries, DimRange(1, context, prompt))),
    )
    module = finished(language_models.StatefulLlama(config, context), "llama_stateful")
    return Recipe(module, inputs, ("logits",), tuple(cases), states=("key_cache", "value_cache"))
