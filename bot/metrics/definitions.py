"""What else is measured besides the numbers? Kinds, items, scores and everything with its own section on a page.

Text only: functions are named and not imported, so that importing this module costs nothing.
"""

from __future__ import annotations

from bot.metrics.metric import Definition

SCORES: tuple[Definition, ...] = (
    Definition(
        key="correctness",
        version=4,
        question="How many of the person's lines did a later bug fix or revert not have to replace?",
        definition="Of the source lines that the person landed at least 90 days ago, the share that no later certain "
        "bug fix or revert replaced or removed within 90 days. A fix by the same person counts; a follow-up in the "
        "same item does not.",
        formula="100 (1 - lines replaced by fixes and reverts / lines at risk)",
        basis="each change that lost lines, with the later change that took them",
        unit="0 to 100, or not rated",
        works="Not well enough for a score, so it is shown as counts: over 70 people of twelve histories the odd and "
        "even months correlate by .44, but around their projects by .06. Of 42 replaced lines read with their fix, 36 "
        "were replaced by a fix of the same thing.",
        fails="A fix that only adds lines takes none away; which changes are fixes depends on the kinds.",
        function="bot.metrics.quality:rate",
    ),
    Definition(
        key="maintainability",
        version=2,
        question="How many of the person's lines still stood half a year later?",
        definition="Of the source lines that the person landed at least 180 days ago, the share that no later change "
        "rewrote within 180 days. Moved, renamed and formatted lines stand; lines dropped with a whole file, or by a "
        "landing that removes twenty lines for each it adds, are not at risk.",
        formula="100 (1 - lines rewritten / lines at risk)",
        basis="each change that lost lines, with the later change that took them",
        unit="0 to 100, or not rated",
        works="Over 65 people of twelve histories the odd and even months correlate by .63, around their projects by "
        ".55; the interval holds the other half of 54; with lines .04. Rated where the main language is Python (33 "
        "people: .64, .53, 28 held, .13); C fails by .31, and Go, JavaScript and Rust have six people each.",
        fails="A young project rewrites more, whoever wrote it: compare with the project beside it.",
        function="bot.metrics.quality:rate",
    ),
    Definition(
        key="architecture",
        version=3,
        question="Do the person's new imports respect the components?",
        definition="Not measured: patches alone show no graph of imports, so no number is shown.",
        formula="none",
        basis="none",
        unit="not rated",
        works="Nothing is claimed.",
        fails="A cycle of imports, or one into another component's private parts, goes unseen.",
        function="bot.metrics.quality:rate",
    ),
    Definition(
        key="performance",
        version=2,
        question="How many of the person's lines did a later performance fix not have to replace?",
        definition="Of the source lines that the person landed at least 180 days ago, the share that no later certain "
        "performance fix replaced within 180 days, in repositories where at least ten such fixes replaced lines.",
        formula="100 (1 - lines replaced by performance fixes / lines at risk)",
        basis="each change that lost lines, with the later change that took them",
        unit="0 to 100, or not rated",
        works="Nothing is claimed: performance fixes that replace lines are too rare to repeat.",
        fails="In most projects fewer than ten such fixes replaced lines, and nothing is at risk.",
        function="bot.metrics.quality:rate",
    ),
)
"""what happened to a person's lines, in display order"""
DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="kind",
        version=3,
        stage="landing",
        question="What kind of change is it?",
        definition="Feature, bug fix, refactor, docs, test, build, CI, performance, style, chore, revert or upkeep "
        "(releases, version bumps, merges, imports, formatting, dependencies), by what is stated, else by a "
        "calibrated guess. A kind is certain if it is stated, or so likely that at least 85 of 100 such guesses are "
        "right; what is not certain counts as neither a feature nor a bug fix.",
        formula="revert marker, else what the pull request states (prefix, label, release note, issue type, branch), "
        "else the commit's own prefix, else upkeep by title or files, else documentation alone, else a linear model "
        "over words, paths and lines, weighed with the grammar of the title and words for faults; certain from a "
        "probability of .65 for features and fixes, .70 for the rest, a fix only with evidence of a fault",
        basis="the rule, or the words and paths that decided",
        unit="one of twelve kinds, and its probability",
        works="500 changes without a prefix of five projects (C, Go, JavaScript, Python, Rust) that nothing was chosen "
        "on, read with their diffs: of 146 certain features 93 in 100 are one, of 80 certain bug fixes 95; before 79 "
        "and 62 of 200 each. Of four more projects in C and JavaScript 90 and 91. Three quarters of all changes are "
        "certain. Stated prefixes are followed but for version bumps (99.6 % of 10,625).",
        fails="Certain features in C are right in 83 of 100 (internal functions look like new ones) and certain fixes "
        "in JavaScript in 80. Two in five bug fixes, and one in four features, are not certain. One label in five is "
        "disputable. Build, CI, style and chore are customs of a project more than properties of a change.",
        function="bot.metrics.change_kind:classify",
    ),
    Definition(
        key="items",
        version=4,
        stage="record",
        question="Which changes of a month make one feature, one bug fix, or one other piece of work?",
        definition="A contributor's changes of one month, joined where an edge links them: one issue, stack or "
        "series, one scope with titles alike, or titles and files alike. Likeness joins no chains, no large items, no "
        "certain fix to a certain feature, and no titles that name different things; upkeep joins nothing. An item "
        "with a certain feature in it is a feature, else with a certain fix a bug fix; where only an uncertain change "
        "could give the kind, the item is not sure which. Reverted ones are shown and not counted. A feature or fix "
        "of documentation, tests, examples, CI or dependencies alone is other work.",
        formula="connected components over E1 to E3, joined by E4 and E5 at most two steps and ten changes wide",
        basis="every edge, with the rule that made it",
        unit="items",
        works="Twelve contributor-months of twelve projects newly grouped by hand (218 changes): B-cubed F1 .879 "
        "(precision .975, recall .800), before .843; with the reader's kinds features and bug fixes are exact in .83 "
        "and .92 of months. On the three projects the rules were chosen on (32 months): F1 .933. Of the certain fixes "
        "of twelve histories (18,700) 0.0 to 3.2 % are inside an item that is a feature (before up to 6.0 %), and 0.6 "
        "to 6.4 % share an item with another fix (before up to 11.8 %).",
        fails="Recall is short of the .90 that was wanted: work that belongs together and says so nowhere stays "
        "apart, above all branches that landed without a merge commit. With our kinds instead of the reader's, "
        "features are exact in .50 of the new months and bug fixes in .33: a kind that is not certain counts as "
        "neither.",
        function="bot.metrics.items:group",
    ),
    Definition(
        key="line_hashes",
        version=2,
        stage="landing",
        question="Which source lines does the commit add to and remove from each file?",
        definition="Four bytes a line: the CRC of its text without blanks, with one sort of quotation mark and without "
        "a comma or semicolon at its end. Comments, docstrings, constants, lines with fewer than four letters or "
        "digits, and files that are no source are left out. A removed line is taken from the youngest landing that "
        "added it.",
        formula="per file: hashes added, hashes removed, and pairs of them where the file was only formatted",
        basis="the hashes themselves, kept beside each commit",
        unit="bytes",
        works="About 0.1 µs a line and 50 to 270 bytes a commit; the same from a patch of GitHub and of git.",
        fails="Of equal lines in one file the youngest goes first; a file without a patch has unknown lines.",
        function="bot.metrics.line_hashes:hash_lines",
    ),
    *SCORES,
    Definition(
        key="ai_usage",
        version=1,
        stage="landing",
        question="Which use of AI tools is disclosed?",
        definition="Commits by what was left behind: declared (line notes, trailers, footers, branch or text of the "
        "pull request), detected (an agent's own account, an applied suggestion), unknown. Unknown is not human.",
        formula="commits of each group / commits; a lower bound, never scaled up",
        basis="the attribution line or field, with its tool and level",
        unit="shares that sum to 1",
        works="Held against the attribution lines of 26 histories and against people called like a tool, prose, "
        "badges and domains by `benchmarks/metrics/ai_usage.py`. Line notes: the lines of 1,672 of 1,678 commits are "
        "exactly those attested, all 1,313 with AI lines are found and none of the 365 without.",
        fails="Much use is not disclosed: of commits with AI lines by line notes .603 disclose it elsewhere. "
        "Deliveries bring no line notes, and an ordinary clone fetches none.",
        function="bot.metrics.ai_usage:marks",
    ),
    Definition(
        key="languages",
        version=2,
        stage="landing",
        question="In which languages is the code?",
        definition="Hand-written lines by language as github.com counts them: programming and markup, without data, "
        "prose, documentation, fixtures, snapshots and news fragments; reverted and mirrored work left out.",
        formula="sum of lines by language, most first",
        basis="the lines of each commit by language",
        unit="lines",
        works="Data and rules are Linguist's own. Of the 3,508 files of six histories 99.1 % count as the language "
        "that github.com would count (94.7 % to 100 %); `benchmarks/linguist_agreement.py` compares them.",
        fails="If only a file's whole content shows its language, the patch decides.",
        function="bot.landing.lines.split:languages",
    ),
    Definition(
        key="skills",
        version=2,
        stage="landing",
        question="Which technologies does the work show?",
        definition="A closed vocabulary, each skill found by what a commit newly imports, asks for in a manifest, "
        "calls, or sets up by a file's name; shown from two lines of evidence on, weighed by size and age.",
        formula="log2(1 + sum over months of log2(1 + the digits of its commits' lines, at most 3 each), halved every "
        "18 months)",
        basis="the changes that hold it",
        unit="weight",
        works="Read by eye: of twenty contributors on whom rules were corrected, 4 of 180 are wrong (precision .978) "
        "and 29 of 162 missed (recall .82); of eight whom no rule had seen, 1 of 76 is wrong (.987) and 21 of 97 "
        "missed (.78).",
        fails="What somebody has used for years and no longer imports is missed. It says used, never mastered; names "
        "of languages are not skills.",
        function="bot.metrics.skills:skills_of",
    ),
    Definition(
        key="documentation",
        version=1,
        stage="record",
        question="How much of the work was documentation?",
        definition="Delivered changes that stand and more than half of whose lines of code are documentation. They "
        "are among the changes and items already; this says how many.",
        formula="count of outcomes of the month with 2 x docs > authored + tests + docs + config",
        basis="the changes",
        unit="changes",
        works="Rests on the parts of lines; the same from deliveries and from a clone.",
        fails="Comments in code are code. A change that documents and builds in equal measure is none.",
        function="bot.metrics.non_code_activity:documentation",
    ),
    Definition(
        key="first_contributions",
        version=1,
        stage="record",
        question="To which repositories did the person contribute for the first time?",
        definition="The change that brought the person's first commit to a repository, its whole history known.",
        formula="earliest counted commit of the person in each repository",
        basis="the change",
        unit="repositories",
        works="The same from a clone and from the record once its history is read; `verify` compares it.",
        fails="Not reported if older history was not read (`whole_history` is false): unknown, not none.",
        function="bot.metrics.non_code_activity:first_contributions",
    ),
    Definition(
        key="reviews",
        version=1,
        stage="record",
        question="How much work of others did the person review, and how closely?",
        definition="Pull requests of others with a review or a remark on a line by the person, in the month it was "
        "given; beside it reviews, approvals, requests for changes and remarks. Machines review nothing.",
        formula="distinct pull requests with a review or remark",
        basis="each pull request, with what was done there",
        unit="pull requests",
        works="Kept from deliveries, each once however often it comes; history by pages of pull requests.",
        fails="No clone has it. Remarks on lines are known since the installation alone: unknown is not none.",
        function="bot.metrics.non_code_activity:reviews",
    ),
    Definition(
        key="newcomers",
        version=1,
        stage="record",
        question="Whose first work in a repository did the person review or merge?",
        definition="First work of others to land in a repository, reviewed or merged by the person; they stay unnamed.",
        formula="pull requests reviewed or merged whose commit is its author's earliest in the repository",
        basis="each pull request, with whether it was reviewed, merged or both",
        unit="pull requests",
        works="Reported only for accounts of people, in repositories whose history is known from the first commit on.",
        fails="Who came first under an address that nothing proves looks new. Who opted out is left out.",
        function="bot.metrics.non_code_activity:newcomers",
    ),
    Definition(
        key="triage",
        version=1,
        stage="record",
        question="How many issues of others did the person triage?",
        definition="Issues of others that the person closed, labelled, assigned to another, put on a milestone or "
        "transferred. One that closes within a minute after the person merged something was closed by the merge.",
        formula="distinct issues of the month with such an act",
        basis="each issue, with what was done to it",
        unit="issues",
        works="One delivery an act; the same delivery twice is once, and order makes no difference.",
        fails="Known since the installation alone. What a pushed commit closed counts for whoever pushed.",
        function="bot.metrics.non_code_activity:triage",
    ),
    Definition(
        key="releases",
        version=1,
        stage="record",
        question="How many releases did the person publish?",
        definition="Published releases that are not gone, credited to their author, or where that is a machine to the "
        "person who published. Prereleases are listed separately until they are promoted; drafts do not count.",
        formula="distinct releases of the month",
        basis="each release, by its tag",
        unit="releases",
        works="Kept from deliveries; history by pages of releases, newest first.",
        fails="Releases that a machine makes are nobody's. A clone holds tags, not releases; they are not counted.",
        function="bot.metrics.non_code_activity:releases",
    ),
    Definition(
        key="self_merges",
        version=1,
        stage="record",
        question="How many own pull requests did the person merge?",
        definition="Merged pull requests that GitHub says their author merged. It enters no score.",
        formula="count of merged pull requests with merged_by = author",
        basis="each pull request",
        unit="pull requests",
        works="Kept from the delivery of the merge; history by pages of pull requests.",
        fails="Work pushed without a pull request, and what a merge bot lands, is not seen here.",
        function="bot.metrics.non_code_activity:self_merges",
    ),
)
"""all definitions, in display order"""
