import { isAskedFor } from '../core/asked-for.ts';
import type { HoldRule } from '../core/decision.ts';
import { overridable } from '../core/overrides.ts';
import { UsageError } from '../failure.ts';
import type { LocalCommand } from './command.ts';
import { ruleTexts } from './explain-rules.ts';
import { didYouMean } from './nearest.ts';
import { formatOf, outputOption, writeData, writeLines } from './output.ts';
import { line } from './painted.ts';
import { table } from './table.ts';

const rules = Object.keys(ruleTexts) as readonly HoldRule[];

/** The rule of that name, however it is capitalised. */
export function ruleNamed(name: string): HoldRule {
  const rule = rules.find((known) => known.toLowerCase() === name.toLowerCase());
  if (rule !== undefined) return rule;
  throw new UsageError(`expected the name of a rule, got \`${name}\`${didYouMean(name, rules)}`);
}

/** What a rule means, and what to do. Asks nobody. */
export const explainCommand: LocalCommand = {
  name: 'explain',
  arguments: '[RULE]',
  completes: ['rule'],
  summary: 'Explain a rule: what it means, how it ends, whether it can be overridden',
  help: 'Without a RULE lists all of them.',
  options: [outputOption],
  connects: false,
  run: (host, [name], given) => {
    const format = formatOf(given);
    const explained = (name === undefined ? rules : [ruleNamed(name)]).map((rule) => ({
      rule,
      ...ruleTexts[rule],
      asked: isAskedFor(rule),
      overridable: overridable[rule],
    }));
    if (format !== 'table') {
      writeData(host, format, name === undefined ? explained : explained[0]);
      return 0;
    }
    const [one] = explained;
    if (name === undefined || one === undefined) {
      const rows = explained.map(({ rule, means, overridable: can }) => [
        line(rule, 'bold'),
        line(can ? 'yes' : 'no'),
        line(means),
      ]);
      writeLines(host, table(['RULE', 'OVERRIDABLE', 'MEANS'], rows));
      return 0;
    }
    writeLines(host, [
      line(one.rule, 'bold'),
      line(`  what it means   ${one.means}`),
      line(`  how it ends     ${one.ends}`),
      line(
        `  override        ${one.overridable ? `can be overridden: ${host.program} override NAME ${one.rule} --for 30m --reason …` : 'never: it guards the data, the quorum or the service, or there would be nothing to do without it'}`,
      ),
    ]);
    return 0;
  },
};
