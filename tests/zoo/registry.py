"""The networks of the zoo: a recipe for each, and the table `NETWORKS` of all of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

import numpy as np
import torch
import transformers
from torch import nn

from tests.zoo import transformers_models
from tests.zoo.convolutional import MOBILENET_V3_LARGE, MOBILENET_V3_TINY, MobileNetV3, UNet
from tests.zoo.network import Array, DimRange, ImageInput, Network, Precision, Recipe, Size, Target, TensorInput
from tests.zoo.weights import calibrate_batch_norms, draw_weights


def random_generator(name: str) -> np.random.Generator:
    """Return the generator of the inputs of the network `name`."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def half_exact(array: Array) -> Array:
    """Return the values rounded to half precision, in float32, so that every precision gets the same inputs."""
    return array.astype(np.float16).astype(np.float32)


def finished(module: nn.Module, name: str, calibration_shape: tuple[int, ...] | None = None) -> nn.Module:
    """Return `module` with weights drawn from a seed that follows from `name`, ready for inference."""
    seed = zlib.crc32(name.encode())
    module.eval().requires_grad_(False)
    draw_weights(module, seed)
    if calibration_shape is not None:
        batch = torch.randn(calibration_shape, generator=torch.Generator().manual_seed(seed + 1))
        calibrate_batch_norms(module, batch)
    return module


def image_side(size: Size) -> int:
    """Return height and width of the images that the classifiers take."""
    return 224 if size is Size.REAL else 32


def image_recipe(
    name: str,
    module: nn.Module,
    size: Size,
    *,
    side: int | None = None,
    output: str = "logits",
    dims: tuple[int | DimRange, ...] | None = None,
    further_shapes: tuple[tuple[int, ...], ...] = (),
) -> Recipe:
    """Return the recipe of a network from one tensor of images to one output."""
    side = side or image_side(size)
    generator = random_generator(name)
    finished(module, name, (4 if size is Size.REAL else 16, 3, side, side))
    shapes = ((1, 3, side, side), *further_shapes)
    return Recipe(
        module,
        (TensorInput("image", dims or shapes[0]),),
        (output,),
        tuple({"image": half_exact(generator.standard_normal(shape, dtype=np.float32))} for shape in shapes),
    )


def resnet(size: Size) -> Recipe:
    """Return ResNet-50."""
    return image_recipe("resnet", transformers_models.resnet(size), size)


def resnet_flexible_batch(size: Size) -> Recipe:
    """Return ResNet-50 for one to eight images."""
    side = image_side(size)
    return image_recipe(
        "resnet_flexible_batch",
        transformers_models.resnet(size),
        size,
        dims=(DimRange(1, 8, 1), 3, side, side),
        further_shapes=((3, 3, side, side),),
    )


def resnet_classifier(size: Size) -> Recipe:
    """Return ResNet-50 as a Core ML classifier, with labels."""
    module = transformers_models.ImageProbabilities(transformers_models.resnet(size))
    recipe = image_recipe("resnet_classifier", module, size, output="classLabel_probs")
    labels = tuple(f"class {number}" for number in range(1000 if size is Size.REAL else 10))
    return Recipe(recipe.module, recipe.inputs, recipe.outputs, recipe.cases, labels)


def mobilenet_v2_side(size: Size) -> int:
    """Return height and width of the images of MobileNetV2, which are halved five times."""
    return 224 if size is Size.REAL else 48


def mobilenet_v2(size: Size) -> Recipe:
    """Return MobileNetV2."""
    return image_recipe("mobilenet_v2", transformers_models.mobilenet_v2(size), size, side=mobilenet_v2_side(size))


def mobilenet_v2_image(size: Size) -> Recipe:
    """Return MobileNetV2 with an image input."""
    side = mobilenet_v2_side(size)
    recipe = image_recipe("mobilenet_v2_image", transformers_models.mobilenet_v2(size), size, side=side)
    shape = (1, 3, side, side)
    pixels = random_generator("mobilenet_v2_image").integers(0, 256, shape).astype(np.float32)
    image = ImageInput("image", shape, scale=1 / 127.5, bias=(-1.0, -0.9, -1.1))
    return Recipe(recipe.module, (image,), recipe.outputs, ({"image": pixels},))


def mobilenet_v3(size: Size) -> Recipe:
    """Return MobileNetV3 large."""
    if size is Size.REAL:
        module = MobileNetV3(MOBILENET_V3_LARGE, stem=16, hidden=1280, classes=1000)
    else:
        module = MobileNetV3(MOBILENET_V3_TINY, stem=8, hidden=64, classes=10)
    return image_recipe("mobilenet_v3", module, size)


def unet_recipe(name: str, size: Size, *, is_bilinear: bool, is_flexible: bool = False) -> Recipe:
    """Return a U-Net for images of 128 x 128, or a small one for 24 x 24."""
    if size is Size.REAL:
        side = 128
        module = UNet(base=32, depth=4, classes=2, is_bilinear=is_bilinear)
    else:
        side = 24
        module = UNet(base=8, depth=2, classes=2, is_bilinear=is_bilinear)
    if not is_flexible:
        return image_recipe(name, module, size, side=side, output="scores")
    flexible = DimRange(16 if size is Size.REAL else 8, 2 * side, side)
    return image_recipe(
        name,
        module,
        size,
        side=side,
        output="scores",
        dims=(1, 3, flexible, flexible),
        further_shapes=((1, 3, side - 16, side + 16),),
    )


def unet_transposed(size: Size) -> Recipe:
    """Return a U-Net with transposed convolutions."""
    return unet_recipe("unet_transposed", size, is_bilinear=False)


def unet_bilinear(size: Size) -> Recipe:
    """Return a U-Net with bilinear upsampling."""
    return unet_recipe("unet_bilinear", size, is_bilinear=True)


def unet_flexible_size(size: Size) -> Recipe:
    """Return a U-Net with bilinear upsampling for images of many sizes."""
    return unet_recipe("unet_flexible_size", size, is_bilinear=True, is_flexible=True)


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


def vit(size: Size) -> Recipe:
    """Return ViT-B/16."""
    return image_recipe("vit", transformers_models.vit(size), size)


def entry(
    recipe: Callable[[Size], Recipe],
    source: type[nn.Module],
    fp32: Target,
    fp16: Target,
    *,
    is_beyond_issue: bool = False,
) -> Network:
    """Return the entry of the network that `recipe` makes, named and described after it."""
    package = source.__module__.partition(".")[0]
    version = f" {transformers.__version__}" if package == "transformers" else ""
    return Network(
        name=recipe.__name__,
        summary=(recipe.__doc__ or "").removeprefix("Return ").removesuffix("."),
        source=f"{source.__module__}{version}: {source.__name__}",
        recipe=recipe,
        targets={Precision.FP32: fp32, Precision.FP16: fp16},
        is_beyond_issue=is_beyond_issue,
    )


# Each target occurs with each kind of network that it converts differently; the attention operation needs iOS 18.
NETWORKS: Mapping[str, Network] = {
    network.name: network
    for network in (
        entry(resnet, transformers.ResNetForImageClassification, fp32=Target.IOS15, fp16=Target.IOS16),
        entry(resnet_flexible_batch, transformers.ResNetForImageClassification, fp32=Target.IOS17, fp16=Target.IOS18),
        entry(
            resnet_classifier,
            transformers.ResNetForImageClassification,
            fp32=Target.IOS16,
            fp16=Target.IOS17,
            is_beyond_issue=True,
        ),
        entry(mobilenet_v2, transformers.MobileNetV2ForImageClassification, fp32=Target.IOS16, fp16=Target.IOS17),
        entry(mobilenet_v2_image, transformers.MobileNetV2ForImageClassification, fp32=Target.IOS15, fp16=Target.IOS16),
        entry(mobilenet_v3, MobileNetV3, fp32=Target.IOS17, fp16=Target.IOS15),
        entry(unet_transposed, UNet, fp32=Target.IOS16, fp16=Target.IOS18),
        entry(unet_bilinear, UNet, fp32=Target.IOS15, fp16=Target.IOS17),
        entry(unet_flexible_size, UNet, fp32=Target.IOS17, fp16=Target.IOS16),
        entry(bert, transformers.BertModel, fp32=Target.IOS15, fp16=Target.IOS16),
        entry(bert_flexible_length, transformers.BertModel, fp32=Target.IOS18, fp16=Target.IOS17),
        entry(minilm, transformers.BertModel, fp32=Target.IOS18, fp16=Target.IOS18),
        entry(gpt2, transformers.GPT2LMHeadModel, fp32=Target.IOS16, fp16=Target.IOS15),
        entry(gpt2_decode, transformers.GPT2LMHeadModel, fp32=Target.IOS17, fp16=Target.IOS18),
        entry(vit, transformers.ViTForImageClassification, fp32=Target.IOS17, fp16=Target.IOS18),
    )
}
