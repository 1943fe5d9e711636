"""`syncscan trace diff`: what is new, gone, worse and better; noise; the exit status."""

from __future__ import annotations

import json

import pytest

from tests.report.conftest import make_process, make_site, make_trace, outside


@pytest.fixture
def diff(keep, syncscan):
    """Compares two traces: ``diff(base sites, head sites, *options)``."""

    def run(base, head, *options: str):
        base, head = (trace if isinstance(trace, dict) else make_trace(*trace) for trace in (base, head))
        return syncscan("trace", "diff", *options, keep("base", base), keep("head", head))

    return run


@pytest.fixture
def statuses(diff):
    """The status of each place by its line, and the exit status."""

    def run(base, head, *options: str):
        done = diff(base, head, "--output-format", "json", *options)
        data = json.loads(done.stdout)
        assert data["fails"] == bool(done.status)
        return {site["line"]: site["status"] for site in data["sites"]}, done.status

    return run


def test_what_changed_is_told_with_what_fails_first(diff):
    base = [make_site(10), make_site(20), make_site(30, total=10_000_000), make_site(40)]
    head = [make_site(10), make_site(20, count=200), make_site(30, total=4_000_000), make_site(50)]
    done = diff(base, head)
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "syncscan: 1 new, 1 worse, 1 gone, 1 better, 1 as before; 4 -> 5 syncs per step,"
        " blocked for 160 us -> 120 us (100 and 100 steady steps)"
    )
    rows = [" ".join(line.split()) for line in lines if " in Engine.step" in line]
    assert rows == [
        "new 0 -> 1 0 -> 20 us SYN101 /code/engine.py:50 in Engine.step",
        "worse 1 -> 2 20 us -> 40 us SYN101 /code/engine.py:20 in Engine.step",
        "gone 1 -> 0 20 us -> 0 SYN101 /code/engine.py:40 in Engine.step",
        "better 1 100 us -> 40 us SYN101 /code/engine.py:30 in Engine.step",
    ]
    assert done.stdout.count("suggestion:") == 2  # for what is new or worse
    assert (done.status, done.stderr) == (1, "")


def test_nothing_changed(diff):
    done = diff([make_site(10)], [make_site(10)])
    assert done.stdout.splitlines() == [
        "syncscan: 1 as before; 1 -> 1 syncs per step, blocked for 20 us -> 20 us (100 and 100 steady steps)"
    ]
    assert done.status == 0


def test_what_is_gone_or_better_fails_nothing(statuses):
    assert statuses([make_site(10), make_site(20)], [make_site(10, total=1_000_000)]) == (
        {10: "better", 20: "gone"},
        0,
    )


@pytest.mark.parametrize(
    ("spread", "after", "status"),
    [
        (0, 2_300_000, "worse"),
        (0, 2_100_000, "same"),  # below the threshold
        (40_000, 2_900_000, "same"),  # noise: 20 us that vary by 40 from step to step
        (40_000, 6_000_000, "worse"),
        (40_000, 200_000, "same"),
        (1_000, 200_000, "better"),
    ],
)
def test_a_difference_within_the_spread_over_steps_is_noise(statuses, spread, after, status):
    deviation = {"syncs": 0.0, "blocked_ns": spread}
    base, head = make_site(10, step_spread=deviation), make_site(10, total=after, step_spread=deviation)
    assert statuses([base], [head])[0] == {10: status}


def test_a_wait_that_came_once_by_chance_is_no_news(statuses):
    rare = make_site(10, count=1, step_spread={"syncs": 0.0995, "blocked_ns": 2_000.0})
    assert statuses([], [rare]) == ({10: "same"}, 0)
    often = make_site(10, count=50, step_spread={"syncs": 0.5, "blocked_ns": 10_000.0})
    assert statuses([], [often]) == ({10: "new"}, 1)


def every_fifth_step(**fields):
    """A site in 20 of 100 steps: once each, or ``each`` times."""
    each = fields.pop("each", 1)
    return make_site(10, count=20 * each, step_spread={"syncs": 0.4 * each, "blocked_ns": 0.0}, **fields)


@pytest.mark.parametrize("each", [1, 3])
def test_a_site_of_one_trace_alone_is_new_or_gone_though_it_blocks_in_few_steps(statuses, each):
    assert statuses([], [every_fifth_step(each=each)]) == ({10: "new"}, 1)
    assert statuses([every_fifth_step(each=each)], []) == ({10: "gone"}, 0)


def test_many_syncs_of_one_step_are_one_chance(statuses):
    burst = make_site(10, count=20, step_spread={"syncs": 1.99, "blocked_ns": 40_000.0})
    assert statuses([], [burst]) == ({10: "same"}, 0)


@pytest.mark.parametrize("options", [(), ("--threshold", "500")])
def test_on_a_simulated_gpu_no_site_comes_by_chance(statuses, options):
    once = make_site(
        10, count=1, total=0, step_spread={"syncs": 0.0995, "blocked_ns": 0.0}, detectors=["simulated"]
    )
    assert statuses([], [once], *options) == ({10: "new"}, 1)
    assert statuses([once], [], *options) == ({10: "gone"}, 0)
    assert statuses([once], [once], *options) == ({10: "same"}, 0)


def test_the_threshold_is_a_share_of_what_was(statuses):
    base, head = [make_site(10, count=100)], [make_site(10, count=130)]
    assert statuses(base, head)[0] == {10: "worse"}


def test_a_higher_threshold_lets_more_pass(statuses):
    base, head = [make_site(10, count=100)], [make_site(10, count=130)]
    assert statuses(base, head, "--threshold", "50") == ({10: "same"}, 0)


def test_a_site_of_one_rank_changes_by_its_share_of_all_steps(diff):
    steps = {"target": "engine:Engine.step", "warmup": 2, "started": 404, "steady": 400, "wall_ns": 10**9}
    spread = {"syncs": 0.1, "blocked_ns": 0.0}
    before = make_trace(make_site(10, total=0, step_spread=spread), steps=steps)
    after = make_trace(make_site(10, count=200, total=0, per_step=2.0, step_spread=spread), steps=steps)
    done = diff(before, after, "--output-format", "json")
    (site,) = json.loads(done.stdout)["sites"]
    assert (site["status"], done.status) == ("worse", 1)
    assert (site["base"]["waits"]["mean"], site["head"]["waits"]["mean"]) == (0.25, 0.5)


def test_moved_lines_and_other_folders_are_the_same_place(statuses):
    base = [
        make_site(10, path="/a/base/engine/run.py", expression="x.item()"),
        make_site(20, path="/a/base/model/run.py", expression="x.item()", count=200),
    ]
    head = [
        make_site(27, path="/b/head/model/run.py", expression="x.item()", count=200),
        make_site(14, path="/b/head/engine/run.py", expression="x.item()"),
    ]
    assert statuses(base, head) == ({14: "same", 27: "same"}, 0)


def test_what_waits_outside_of_steps_fails_nothing_and_is_counted(diff):
    done = diff([make_site(10), outside(70)], [make_site(10), outside(80), outside(81)])
    assert done.stdout.splitlines()[1:] == ["outside of steady steps: 2 new, 1 gone"]
    assert done.status == 0


def test_runs_without_steps_are_compared_by_their_totals(diff):
    base = make_trace(outside(10, count=4), steps=None)
    done = diff(base, make_trace(outside(10, count=8), steps=None))
    lines = done.stdout.splitlines()
    assert lines[0] == "syncscan: 1 worse"
    assert lines[1].split()[:2] == ["syncs", "blocked"]
    assert lines[-1].startswith("totals of the runs are compared")
    assert done.status == 1


MANY = [outside(10, count=10), outside(20, count=1)]
FEW = [outside(10, count=2)]


@pytest.mark.parametrize(
    ("ends", "before", "after", "headline", "status"),
    [
        ((0, 1), MANY, FEW, "2 as before", 0),
        ((0, 1), FEW, MANY, "1 new, 1 worse", 1),
        ((1, 0), FEW, MANY, "2 as before", 0),
        ((1, 0), MANY, FEW, "1 gone, 1 better", 0),
        ((1, 3), MANY, FEW, "2 as before", 0),
        ((1, 3), FEW, MANY, "1 new, 1 worse", 1),
    ],
)
def test_a_run_that_failed_is_given_no_sites_that_the_run_may_not_have_reached(
    diff, ends, before, after, headline, status
):
    traces = [
        make_trace(*sites, steps=None, exit_status=end)
        for sites, end in zip((before, after), ends, strict=True)
    ]
    done = diff(*traces)
    first, *others = done.stdout.splitlines()
    assert (first, done.status) == (f"syncscan: {headline}", status)
    assert (
        f"the exit statuses differ ({ends[0]} -> {ends[1]}), so no site counts as"
        f" {'better or gone' if ends[1] else 'new or worse'}; trace a run without a failure"
    ) in others
    assert "the exit statuses differ" in diff(*traces, "--output-format", "html").stdout


@pytest.mark.parametrize(("ends", "counts"), [((0, 1), "2 new"), ((1, 0), "1 gone")])
def test_a_run_that_failed_may_not_have_reached_sites_outside_of_steps_either(diff, ends, counts):
    before = make_trace(make_site(10), outside(70), exit_status=ends[0])
    after = make_trace(make_site(10), outside(80), outside(81), exit_status=ends[1])
    assert f"outside of steady steps: {counts}" in diff(before, after).stdout.splitlines()


def test_runs_with_the_same_exit_status_are_compared(diff):
    base, head = (make_trace(outside(10, count=n), steps=None, exit_status=3) for n in (10, 2))
    assert diff(base, head).stdout.startswith("syncscan: 1 better\n")


def test_steps_against_none_is_refused_in_one_line(diff, tmp_path):
    done = diff(make_trace(outside(10), steps=None), [make_site(10)])
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == (
        f"syncscan: {tmp_path}/base: traced without --step; trace it with --step engine:Engine.step as the other\n"
    )


def test_a_simulated_run_is_compared_by_counts_alone(diff):
    simulated = make_trace(
        make_site(10, detectors=["simulated"], total=0, count=200),
        processes=[make_process(detectors=["simulated"], cuda="simulated")],
    )
    done = diff(make_trace(make_site(10)), simulated)
    assert "blocked" not in done.stdout
    assert "worse  1 -> 2 " in done.stdout
    assert done.status == 1


def test_json_has_both_sides(diff):
    data = json.loads(
        diff(
            [make_site(10)],
            [make_site(12, expression="self.t10.item()", count=200)],
            "--output-format",
            "json",
        ).stdout
    )
    assert (data["version"], data["per"], data["threshold"], data["fails"]) == (1, "step", 0.1, True)
    (site,) = data["sites"]
    assert site["base"] == {"line": 10, "waits": {"mean": 1.0, "error": 0.0},
                            "blocked_ns": {"mean": 20_000.0, "error": 0.0}, "starved_ns": None}  # fmt: skip
    assert (site["line"], site["head"]["waits"]["mean"]) == (12, 2.0)
    assert data["base"]["steps"]["steady"] == 100


def test_what_a_trace_names_commands_nothing(diff):
    done = diff([], [make_site(10, path="/w/\x1b[31m.py", function="\x1b[2J", expression="[red]x[/red]")])
    assert "\x1b" not in done.stdout
    assert "[red]x[/red]" in done.stdout
    assert "/w/\\x1b[31m.py:10 in \\x1b[2J" in done.stdout
