"""Recipes of the networks on images and videos."""

from __future__ import annotations

import numpy as np

from tests.zoo import transformers_models, vision_models
from tests.zoo.convolutional import (
    MOBILENET_V3_LARGE,
    MOBILENET_V3_TINY,
    MobileNetV3,
    StyleTransfer,
    SuperResolution,
    UNet,
    VideoClassifier,
)
from tests.zoo.network import DimRange, ImageInput, Recipe, Size, TensorInput
from tests.zoo.recipe_parts import finished, half_exact, image_recipe, image_side, random_generator


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
    recipe = image_recipe("resnet_classifier", module, size, output="probabilities")
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


def vit(size: Size) -> Recipe:
    """Return ViT-B/16."""
    return image_recipe("vit", transformers_models.vit(size), size)


def convnext(size: Size) -> Recipe:
    """Return ConvNeXt-T."""
    return image_recipe("convnext", vision_models.convnext(size), size)


def swin(size: Size) -> Recipe:
    """Return Swin-T."""
    return image_recipe("swin", vision_models.swin(size), size)


def segformer(size: Size) -> Recipe:
    """Return SegFormer-B0."""
    side = 512 if size is Size.REAL else 32
    return image_recipe("segformer", vision_models.segformer(size), size, side=side, output="scores")


def clip_image(size: Size) -> Recipe:
    """Return the image tower of CLIP ViT-B/32."""
    return image_recipe("clip_image", vision_models.clip_image(size), size, output="embedding")


def style_transfer(size: Size) -> Recipe:
    """Return a style transfer network from an image to an image."""
    side = 256 if size is Size.REAL else 24
    module = StyleTransfer(base=32, blocks=5) if size is Size.REAL else StyleTransfer(base=8, blocks=1)
    shape = (1, 3, side, side)
    pixels = random_generator("style_transfer").integers(0, 256, shape).astype(np.float32)
    image = ImageInput("image", shape, scale=1 / 255.0, bias=(0.0, 0.0, 0.0))
    outputs = ("styled",)
    finished(module, "style_transfer")
    return Recipe(module, (image,), outputs, ({"image": pixels},), image_outputs=frozenset(outputs))


def pixel_shuffle(size: Size) -> Recipe:
    """Return the super-resolution network ESPCN for luma of many sizes."""
    side = 224 if size is Size.REAL else 16
    module = (
        SuperResolution(wide=64, narrow=32, factor=3)
        if size is Size.REAL
        else SuperResolution(wide=16, narrow=8, factor=3)
    )
    shapes = ((1, 1, side, side), (1, 1, side // 2, side + 8))
    generator = random_generator("pixel_shuffle")
    dim = DimRange(side // 2, 2 * side, side)
    cases = tuple({"image": half_exact(generator.random(shape, dtype=np.float32))} for shape in shapes)
    return Recipe(finished(module, "pixel_shuffle"), (TensorInput("image", (1, 1, dim, dim)),), ("enlarged",), cases)


def video(size: Size) -> Recipe:
    """Return a 3-D convolutional classifier of videos (C3D)."""
    if size is Size.REAL:
        module = VideoClassifier(widths=(64, 128, 256, 512), classes=101)
        shape = (1, 3, 16, 112, 112)
    else:
        module = VideoClassifier(widths=(8, 16), classes=10)
        shape = (1, 3, 4, 16, 16)
    case = {"video": half_exact(random_generator("video").standard_normal(shape, dtype=np.float32))}
    return Recipe(finished(module, "video"), (TensorInput("video", shape),), ("logits",), (case,))
