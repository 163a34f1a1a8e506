"""The command of usage: what each month used and cost; used by commands."""

from app.cli.exit_status import OK
from app.cli.follow import Call
from app.cli.printing.output import json_line
from app.core.usage import money_text, used_text


async def usage(call: Call) -> int:
    """Print every month that is known, the newest first."""
    months = await call.moot.engine.usage.months()
    if call.arguments.json:
        records = [
            {
                "month": month,
                "calls": total.calls,
                "input_tokens": total.input_tokens,
                "output_tokens": total.output_tokens,
                "cost_usd": total.cost_usd,
                "unpriced_calls": total.unpriced,
                "estimated_calls": total.estimated,
            }
            for month, total in months
        ]
        await call.out.write(json_line(records))
        return OK
    for month, total in months:
        line = call.texts(
            "cli.usage",
            month=month,
            money=money_text(call.texts, total),
            count=total.calls,
            tokens=used_text(total),
        )
        await call.out.write(f"{line}\n")
    return OK
