"""Each sample of a stack is counted once, in the row where the time was spent."""

from __future__ import annotations

import pytest

import where_the_time_goes as where

SCRIPT = """python  700/701
        ffffffff81a tcp_v4_rcv+0x1f
        ffffffff81b net_rx_action+0x2a
        ffffffff81c __do_softirq+0xff
        ffffffff81d tcp_sendmsg_locked+0x1
        ffffffff81e __x64_sys_sendto+0x24
        ffffffff81f do_syscall_64+0x5c
            7f00001 plimsoll_engine::worker::drive<alloc::vec::Vec<u8>, u64>+0x10

python  700/701
            7f00002 httparse::parse_headers_iter_uninit+0x7
            7f00003 [unknown]

plimsoll-writer  700/702
        ffffffff820 __x64_sys_write+0x3

python  700/700
            7f00004 _PyEval_EvalFrameDefault+0x9
"""


def stack(*functions: str) -> where.Sample:
    return where.Sample("python", is_main=False, functions=functions)


def test_the_stacks_of_perf_are_read() -> None:
    found = list(where.samples(SCRIPT.splitlines()))
    assert [(sample.thread, sample.is_main) for sample in found] == [
        ("python", False),
        ("python", False),
        ("plimsoll-writer", False),
        ("python", True),
    ]
    assert found[0].functions[0] == "tcp_v4_rcv"
    assert found[0].functions[-1] == "plimsoll_engine::worker::drive<alloc::vec::Vec<u8>, u64>"
    assert found[1].functions == ("httparse::parse_headers_iter_uninit", "[unknown]")


@pytest.mark.parametrize(
    ("functions", "row"),
    [
        (("tcp_v4_rcv", "__do_softirq", "__x64_sys_sendto"), where.PLACES[0].title),
        (("tcp_sendmsg", "__x64_sys_sendto", "do_syscall_64"), "send"),
        (("tcp_recvmsg", "__x64_sys_recvfrom", "do_syscall_64"), "recv"),
        (("schedule", "do_epoll_wait", "__x64_sys_epoll_pwait2"), "epoll"),
        (("__vdso_clock_gettime", "plimsoll_engine::worker::drive"), "the clock"),
        (("tcp_v4_connect", "__x64_sys_connect", "do_syscall_64"), where.PLACES[5].title),
        (("x64_sys_call", "do_syscall_64"), where.OTHER),
        (("plimsoll_engine::response::Reader::read",), where.USER),
    ],
)
def test_a_stack_belongs_where_its_functions_say(functions: tuple[str, ...], row: str) -> None:
    assert where.title(stack(*functions)) == row


def test_every_sample_is_in_one_row_of_the_table() -> None:
    found = where.shares(where.samples(SCRIPT.splitlines()))
    assert sum(found.values()) == pytest.approx(1.0)
    assert {row for row, share in found.items() if share} == {
        where.PLACES[0].title,
        where.USER,
        "the writer of rows",
        where.START,
    }


def test_every_row_says_what_it_is() -> None:
    assert where.MEANINGS.keys() == set(where.TITLES)


def test_without_perf_it_says_so_and_ends_with_the_code_of_an_unfit_host(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        where.main([])
    assert ended.value.code == 3
    assert "`perf` is not installed" in capsys.readouterr().err
