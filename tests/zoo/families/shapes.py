"""Shape, layout, indexing, sorting and generation."""

from __future__ import annotations

import numpy as np
from torch.nn import functional

from tests.zoo.families.elementwise import as_torch
from tests.zoo.families.sheet import Sheet, mb
from tests.zoo.network import Target


def shape(sheet: Sheet) -> None:
    """Operations on the shape of tensors."""
    x, a = sheet.input("x")
    one, b = sheet.input("with_ones")
    sheet.out("shape", mb.shape(x=x), a.shape)
    sheet.out("identity", mb.identity(x=x), a)
    sheet.out("reshape", mb.reshape(x=x, shape=[4, -1]), a.reshape(4, -1))
    sheet.out("expand_dims", mb.expand_dims(x=x, axes=[0, -1]), a[None, ..., None])
    sheet.out("squeeze", mb.squeeze(x=one), b.squeeze())
    sheet.out("squeeze_axis", mb.squeeze(x=one, axes=[0]), b.squeeze(0))
    sheet.out("transpose", mb.transpose(x=x, perm=[2, 0, -2]), a.transpose(2, 0, 1))
    sheet.out("reverse", mb.reverse(x=x, axes=[1]), a[:, ::-1])
    sheet.out("reverse_all", mb.reverse(x=x), a[::-1, ::-1, ::-1])
    sheet.out("flatten2d", mb.flatten2d(x=x, axis=2), a.reshape(6, 4))
    sheet.out("concat", mb.concat(values=[x, x], axis=1), np.concatenate([a, a], 1))
    interleaved = np.stack([a, 2 * a], 2).reshape(2, 6, 4)
    double = mb.mul(x=x, y=sheet.number(2.0))
    sheet.out("concat_interleaved", mb.concat(values=[x, double], axis=1, interleave=True), interleaved)
    sheet.out("stack", mb.stack(values=[x, double], axis=-1), np.stack([a, 2 * a], -1))
    first, second = mb.split(x=x, split_sizes=[1, 3], axis=2)
    sheet.out("split_first", first, a[:, :, :1])
    sheet.out("split_second", second, a[:, :, 1:])
    sheet.out("split_equal", mb.split(x=x, num_splits=2, axis=0)[1], a[1:])
    sheet.out("tile", mb.tile(x=x, reps=[1, 2, 3]), np.tile(a, (1, 2, 3)))
    sheet.out(
        "pad", mb.pad(x=x, pad=[1, 0, 0, 2], mode="constant", constant_val=sheet.number(7.0)), padded(a, "constant")
    )
    sheet.out(
        "pad_reflect",
        mb.pad(x=x, pad=[1, 0, 0, 2], mode="reflect", constant_val=sheet.number(0.0)),
        padded(a, "reflect"),
    )
    sheet.out(
        "pad_replicate",
        mb.pad(x=x, pad=[1, 0, 0, 2], mode="replicate", constant_val=sheet.number(0.0)),
        padded(a, "edge"),
    )
    sheet.out("crop", mb.crop(x=x, crop_height=[1, 0], crop_width=[1, 2]), a[:, 1:, 1:2])
    new_op = mb.sliding_windows(x=x, axis=2, size=3, stride=1)
    sheet.out("sliding_windows", new_op, np.stack([a[:, :, :3], a[:, :, 1:]], 2))
    if sheet.target is not Target.IOS15:
        new_op = mb.reshape_like(x=x, ref_tensors=[x, x], begins=[1, 0], ends=[3, 1], end_masks=[False, False])
        sheet.out("reshape_like", new_op, a.reshape(3, 4, 2))


def padded(a: np.ndarray[tuple[int, ...], np.dtype[np.float64]], mode: str) -> object:
    """Return `a` with one row before and two columns after."""
    widths = ((0, 0), (1, 0), (0, 2))
    if mode == "constant":
        return np.pad(a, widths, constant_values=7.0)
    return np.pad(a, widths, "reflect" if mode == "reflect" else "edge")


def rearrangement(sheet: Sheet) -> None:
    """Channels, batches and pixels rearranged."""
    x, a = sheet.input("x")
    t = as_torch(a)
    n, c, h, w = a.shape
    # In depth-column-row order the channel is the fastest of the three parts.
    blocks = a.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)
    sheet.out("depth_to_space", mb.depth_to_space(x=x, block_size=2), blocks)
    apart = a.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, 4 * c, h // 2, w // 2)
    sheet.out("space_to_depth", mb.space_to_depth(x=x, block_size=2), apart)
    sheet.out("pixel_shuffle", mb.pixel_shuffle(x=x, upscale_factor=2), functional.pixel_shuffle(t, 2))
    if sheet.target is not Target.IOS15:
        new_op = mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(2))
        sheet.out("pixel_unshuffle", new_op, functional.pixel_unshuffle(t, 2))
    wide = np.pad(a, ((0, 0), (0, 0), (1, 1), (0, 0)))
    batches = wide.reshape(n, c, (h + 2) // 2, 2, w // 2, 2).transpose(3, 5, 0, 1, 2, 4)
    new_op = mb.space_to_batch(x=x, block_shape=[2, 2], paddings=[[1, 1], [0, 0]])
    sheet.out("space_to_batch", new_op, batches.reshape(4 * n, c, (h + 2) // 2, w // 2))
    new_op = mb.batch_to_space(x=new_op, block_shape=[2, 2], crops=[[1, 1], [0, 0]])
    sheet.out("batch_to_space", new_op, a)


def slicing(sheet: Sheet) -> None:
    """Slices taken, and replaced."""
    x, a = sheet.input("x")
    sheet.out(
        "slice_by_index", mb.slice_by_index(x=x, begin=[0, 1, 0], end=[2, 3, 4], stride=[1, 1, 2]), a[0:2, 1:3, 0:4:2]
    )
    new_op = mb.slice_by_index(
        x=x,
        begin=[0, 0, -1],
        end=[0, 2, 0],
        stride=[1, 1, -1],
        begin_mask=[True, False, False],
        end_mask=[True, False, True],
    )
    sheet.out("slice_masked", new_op, a[:, 0:2, ::-1])
    new_op = mb.slice_by_index(x=x, begin=[1, 0, 0], end=[0, 3, 2], squeeze_mask=[True, False, False])
    sheet.out("slice_squeezed", new_op, a[1, 0:3, 0:2])
    sheet.out("slice_by_size", mb.slice_by_size(x=x, begin=[0, 1, 1], size=[-1, 2, 3]), a[:, 1:3, 1:4])
    if sheet.target is Target.IOS18:
        update, b = sheet.input("update")
        expected = a.copy()
        expected[:, 1:3, ::2] = b
        new_op = mb.slice_update(x=x, update=update, begin=[0, 1, 0], end=[2, 3, 4], stride=[1, 1, 2])
        sheet.out("slice_update", new_op, expected)


def indexing(sheet: Sheet) -> None:
    """Elements gathered, and scattered in each mode."""
    x, a = sheet.input("x")
    i, n = sheet.integers("indices")
    u, b = sheet.input("updates")
    has_batch = sheet.target is not Target.IOS15
    sheet.out("gather", mb.gather(x=x, indices=i, axis=1), a[:, n])
    along, m = sheet.integers("along")
    sheet.out("gather_along_axis", mb.gather_along_axis(x=x, indices=along, axis=1), np.take_along_axis(a, m, 1))
    pairs, p = sheet.integers("pairs")
    sheet.out("gather_nd", mb.gather_nd(x=x, indices=pairs), a[p[:, 0], p[:, 1]])
    if has_batch:
        new_op = mb.gather(x=x, indices=along, axis=1, batch_dims=1)
        sheet.out("gather_batch", new_op, np.take_along_axis(a, m, 1))
    for mode, apply in SCATTERS.items():
        expected = a.copy()
        for column, index in enumerate(n):
            expected[:, index] = apply(expected[:, index], b[:, column])
        new_op = mb.scatter(data=x, indices=i, updates=u, axis=1, mode=mode)
        sheet.out(f"scatter_{mode}", new_op, expected)
    expected = a.copy()
    np.put_along_axis(expected, m, b, 1)
    new_op = mb.scatter_along_axis(data=x, indices=along, updates=u, axis=1, mode="update")
    sheet.out("scatter_along_axis", new_op, expected)
    expected = a.copy()
    expected[p[:, 0], p[:, 1]] += b[:, 0]
    flat = mb.slice_by_index(x=u, begin=[0, 0], end=[0, 0], end_mask=[True, False], squeeze_mask=[False, True])
    sheet.out("scatter_nd", mb.scatter_nd(data=x, indices=pairs, updates=flat, mode="add"), expected)
    sheet.out("one_hot", mb.one_hot(indices=i, one_hot_vector_size=5), np.eye(5)[n])


SCATTERS = {
    "update": lambda old, new: new,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


def sorting(sheet: Sheet) -> None:
    """Sorting, and operations whose result depends on an order."""
    x, a = sheet.input("x")
    order = np.argsort(-a, 1, kind="stable")
    sheet.out("argsort", mb.argsort(x=x, axis=1), order)
    sheet.out("argsort_ascending", mb.argsort(x=x, axis=0, ascending=True), np.argsort(a, 0, kind="stable"))
    values, indices = mb.topk(x=x, k=2, axis=1)
    sheet.out("topk_values", values, np.take_along_axis(a, order[:, :2], 1))
    sheet.out("topk_indices", indices, order[:, :2])
    values, indices = mb.topk(x=x, k=3, axis=1, ascending=True)
    sheet.out("topk_ascending_values", values, np.sort(a, 1)[:, :3])
    sheet.out("topk_ascending_indices", indices, np.argsort(a, 1)[:, :3])
    sheet.out("cumsum", mb.cumsum(x=x, axis=1), np.cumsum(a, 1))
    sheet.out("cumsum_exclusive", mb.cumsum(x=x, axis=1, exclusive=True), np.cumsum(a, 1) - a)
    sheet.out("cumsum_reverse", mb.cumsum(x=x, axis=0, reverse=True), np.cumsum(a[::-1], 0)[::-1])
    sheet.out("band_part", mb.band_part(x=x, lower=1, upper=0), np.tril(np.triu(a, -1), 0))
    positive = mb.greater(x=x, y=sheet.number(0.0))
    sheet.out("non_zero", mb.non_zero(x=positive), np.argwhere(a > 0))
    lengths, n = sheet.integers("lengths")
    expected = a.copy()
    for row, length in enumerate(n):
        expected[row, :length] = expected[row, :length][::-1]
    new_op = mb.reverse_sequence(x=x, lengths=lengths, seq_axis=1, batch_axis=0)
    sheet.out("reverse_sequence", new_op, expected)


def generation(sheet: Sheet) -> None:
    """Tensors made of a few numbers."""
    x, a = sheet.input("x")
    n, size = sheet.scalar("size")
    sheet.out("fill", mb.fill(shape=[2, 3], value=sheet.number(1.5)), np.full((2, 3), 1.5))
    sheet.out("range_1d", mb.range_1d(start=1, end=n, step=2), np.arange(1, size, 2))
    if sheet.target is not Target.IOS15:
        sheet.out("fill_like", mb.fill_like(ref_tensor=x, value=sheet.number(-2.0)), np.full(a.shape, -2.0))
