from tests.tasks.test_catch_up import *
from tests.tasks.test_catch_up import outage, caught_up, merge, recorded
from sqlalchemy import select
async def test_dbg(github, tmp_path):
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        await place.land("Before the outage")
        await caught_up(place, thorough=True)
        async with outage(place):
            landed = []
            for _ in range(5):
                place.clock.now += timedelta(days=1)
                landed.append(merge(place, f"Landed on {place.clock.now:%A}"))
            pushed = Step("Pushed without a pull request", {"pushed.py": b"value = 0\n"})
            by = place.people["mara"]
            landed += github.push(place.repository, "main", [pushed], by=by, at=place.clock.now)
        place.clock.now += timedelta(hours=1)
        await caught_up(place)
        print([ (await recorded(place, x)) for x in landed], place.clock.now)
        async with place.bot.store.read() as conn:
            for r in await conn.execute(select(JOB.c.task, JOB.c.ref_id, JOB.c.state, JOB.c.attempt, JOB.c.failures, JOB.c.run_at, JOB.c.last_error)): print(r)
