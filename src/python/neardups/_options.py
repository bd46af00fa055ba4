"""The options of each function, for type checkers and editors. What they mean: `dedup scan --help-all`, and so on.

A test compares them with the options that the native part takes. `None` is an option that is not given.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Optional, Protocol, SupportsFloat, SupportsIndex, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    # Where it is not installed, or has no types, this is any type.
    from pyarrow import Table as Table  # type: ignore[import-untyped, import-not-found, unused-ignore]

_Element = TypeVar("_Element", covariant=True)


class _Collection(Protocol[_Element]):
    """A list, a tuple, a set and so on, but no string: whether any object is in one can be asked of all but strings."""

    def __contains__(self, element: object, /) -> bool: ...

    def __iter__(self) -> Iterator[_Element]: ...


class _Stream(Protocol):
    """A table, reader or series of Arrow, Polars and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


class _Array(Protocol):
    """A batch or array of Arrow."""

    def __arrow_c_array__(self, requested_schema: Any = None, /) -> Any: ...


class _Frame(Protocol):
    """A frame or series of pandas."""

    @property
    def iloc(self) -> Any: ...


class _Polars(_Stream, Protocol):
    """A frame of Polars."""

    def lazy(self) -> Any: ...


class _Dataset(Protocol):
    """A dataset of Hugging Face."""

    def with_format(self, *arguments: Any, **options: Any) -> Any: ...

    def __len__(self) -> int: ...


class _IterableDataset(Protocol):
    """A dataset of Hugging Face that is a stream."""

    def with_format(self, *arguments: Any, **options: Any) -> Any: ...

    def set_epoch(self, epoch: int) -> None: ...


_Row = Union[str, None, Mapping[str, Any]]
_Path = os.PathLike[str]
_Paths = Union[_Path, _Collection[_Path], Iterator[_Path]]
_Arrow = Union[_Stream, _Array]

# Records are a table, or for a list a list. A series of pandas may look like a list.
FrameLike = Union[_Frame, _Dataset]
ListLike = Union[_Collection[_Row], Iterator[_Row], _IterableDataset]
TableLike = Union[_Paths, _Arrow]
Records = list[dict[str, Any]]

# What is kept is of the kind of the documents.
Frame = TypeVar("Frame", bound=Union[_Frame, _Polars, _Dataset])
Row = TypeVar("Row", bound=_Row)
Rows = Union[_Collection[Row], Iterator[Row]]
Paths = _Paths
RowStream = _IterableDataset
Arrow = _Arrow

AnyDocuments = Union[
    _Collection[Union[_Row, _Path]], Iterator[Union[_Row, _Path]], _Path, _Stream, _Array, _Frame, _Dataset, _IterableDataset
]

Switch = Optional[bool]
# Numbers may be written as on a command line: "2/3", "auto", "10G". Those of numpy and fractions are numbers, too.
Number = Union[SupportsFloat, SupportsIndex, str, None]
Text = Optional[str]
Texts = Union[str, list[str], tuple[str, ...], None]
File = Union[str, "os.PathLike[str]", None]
Files = Union[File, list[Union[str, "os.PathLike[str]"]], tuple[Union[str, "os.PathLike[str]"], ...]]
Mask = Literal["numbers", "dates"]


class Tokens(TypedDict, total=False):
    """How texts are cut into tokens."""

    tokenizer: Text
    join_hyphens: Switch
    fold: Optional[Literal["marks"]]
    mask: Optional[Union[Mask, list[Mask], tuple[Mask, ...]]]
    stopwords: Files
    stem: Optional[
        Literal[
            "ar", "ca", "da", "de", "el", "en", "eo", "es", "et", "eu", "fi", "fr", "ga", "hi", "hu", "hy", "id", "it",
            "lt", "ne", "nl", "no", "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi",
        ]
    ]


class Parameters(Tokens, total=False):
    """How documents are compared."""

    preset: Optional[
        Literal[
            "altavista", "henzinger", "google2007", "spotsigs-reference", "imatch-reference", "gopher", "lee",
            "refinedweb", "roots", "the-stack", "slimpajama", "redpajama2-0.7", "redpajama2-0.8", "redpajama2-0.9",
            "fineweb", "zyda2", "nemo", "finepdfs", "duplodocus",
        ]
    ]
    threshold: Number
    recall: Number
    hash: Optional[Literal["xxh3", "md5", "sha1"]]
    drop_common: Number
    cosine: Number
    weights: File
    lexicon: File
    exact: Switch
    shingle: Number
    sketch: Optional[Literal["fss", "classic", "datasketch", "datasketch1"]]
    bands: Number
    rows: Number
    hashes: Number
    supershingles: Number
    min_supershingles: Number
    count_repeats: Switch
    distance: Number
    bits: Number
    grams: Number
    blocks: Number
    tables: Number
    force: Switch
    idf_low: Number
    idf_high: Number
    drop_frequent: Number
    drop_rare: Number
    lexicons: Number
    drop_fraction: Number
    min_terms: Number
    min_share: Number
    lexicon_without: Files
    agree: Number
    projection_bits: Number
    antecedents: Text
    spot_distance: Number
    spot_chain: Number
    chain_over: Optional[Literal["content", "all"]]
    spots: Optional[Literal["multiset", "set"]]
    min_spots: Number
    seed: Number


class Method(Parameters, total=False):
    """How documents are compared, and by which algorithm: the options of `similarity`."""

    algo: Optional[Literal["minhash", "simhash", "imatch", "projection", "spotsigs"]]


class Columns(TypedDict, total=False):
    """What is read of tables and files."""

    text_field: Texts
    id_field: Texts
    content: Optional[Literal["all", "html", "main"]]
    max_record: Number


class Documents(Columns, total=False):
    """How files are read."""

    format: Optional[
        Literal[
            "auto", "text", "lines", "jsonl", "csv", "tsv", "html", "warc", "parquet",
        ]
    ]
    encoding: Text
    delimiter: Text
    max_expansion: Number
    max_window: Number
    hidden: Switch
    include: Texts
    exclude: Texts
    pre: Texts
    pre_glob: Texts
    pre_timeout: Number
    allow_empty: Switch


class Reference(TypedDict, total=False):
    """How those of `against` are read."""

    against_format: Optional[
        Literal[
            "auto", "text", "lines", "jsonl", "csv", "tsv", "html", "warc", "parquet",
        ]
    ]
    against_text_field: Texts
    against_id_field: Texts
    against_encoding: Text


class Run(TypedDict, total=False):
    """What a run may use."""

    memory: Number
    temp_dir: File
    threads: Number


class Fingerprints(Method, Documents, Run, total=False):
    """The options of `fingerprints`."""

    on_error: Optional[Literal["fail"]]


class Keep(Method, Documents, Reference, Run, total=False):
    """The options of `keep` and `clusters`."""

    prefer: Files
    decisions: File
    on_error: Optional[Literal["keep", "drop", "fail"]]


class _Scan(Keep, total=False):
    keep: Text
    host_depth: Number


class Scan(_Scan, total=False):
    """The options of `scan`."""

    emit: Optional[Literal["pairs", "clusters", "verdicts", "kept", "fingerprints", "hosts"]]


class _Passages(Tokens, Documents, Reference, Run, total=False):
    exact: Switch
    similarity: Number
    min_words: Number
    min_documents: Number
    no_overlaps: Switch
    max_places: Number
    unit: Optional[Literal["document"]]
    min_coverage: Number
    on_error: Optional[Literal["keep", "drop", "fail"]]
    seed: Number


class Passages(_Passages, total=False):
    """The options of `passages`."""

    emit: Optional[Literal["passages", "pairs", "spans", "verdicts", "kept"]]


class _Contain(Tokens, Documents, Reference, Run, total=False):
    preset: Optional[Literal["gpt-3", "palm", "llama-2"]]
    shingle: Number
    min_coverage: Number
    min_coverage_all: Number
    of: Optional[Literal["document", "reference"]]
    max_passages: Number
    on_error: Optional[Literal["keep", "drop", "fail"]]
    seed: Number


class Contain(_Contain, total=False):
    """The options of `contain`."""

    emit: Optional[Literal["containments", "pairs", "verdicts", "kept"]]


class Compare(Parameters, total=False):
    """The options of `compare`."""

    algo: Optional[Literal["minhash", "simhash", "imatch", "projection", "spotsigs", "all"]]
    min_run: Number
    max_differences: Number


class Index(Method, Columns, Run, total=False):
    """The options of `Index`."""

    random_seed: Switch
    window: Number
    expire: Number
    max_docs: Number
    max_candidates: Number
    expect: Number


# The keyword arguments of each function. Those of `emit` decide what it returns.


class _Call(TypedDict, total=False):
    progress: Optional[bool]
    stats: Optional[dict[str, Any]]


class _CallOfBoth(_Call, total=False):
    against: Optional[AnyDocuments]


class FingerprintsCall(Fingerprints, _Call, total=False):
    """Those of `fingerprints`."""


class KeepCall(Keep, _CallOfBoth, total=False):
    """Those of `keep` and `clusters`."""


class ScanCall(_Scan, _CallOfBoth, total=False):
    """Those of `scan`, without `emit`."""


class PassagesCall(_Passages, _CallOfBoth, total=False):
    """Those of `passages`, without `emit`."""


class ContainCall(_Contain, _CallOfBoth, total=False):
    """Those of `contain`, without `emit`."""


ScanRecords = Optional[Literal["pairs", "clusters", "verdicts", "fingerprints", "hosts"]]
PassagesRecords = Optional[Literal["passages", "pairs", "spans", "verdicts"]]
ContainRecords = Optional[Literal["containments", "pairs", "verdicts"]]
