import { type HoldRule, holdRules, rules } from '../../core/rules/catalogue.ts';
import { UsageError } from '../../failure.ts';
import { didYouMean } from '../command-error.ts';
import { line, table } from '../terminal/lines.ts';
import { formatOf, outputOption, writeData, writeLines } from '../terminal/output.ts';
import type { LocalCommand } from './command.ts';

/** Finds a rule by its name, in any capitalization. */
export function ruleNamed(name: string): HoldRule {
  const rule = holdRules.find((known) => known.toLowerCase() === name.toLowerCase());
  if (rule !== undefined) return rule;
  throw new UsageError(`expected the name of a rule, got \`${name}\`${didYouMean(name, holdRules)}`);
}

/** Explains rules from the catalogue, without a cluster. */
export const explainCommand: LocalCommand = {
  name: 'explain',
  arguments: '[RULE]',
  summary: 'Explain a rule: what it means, how it ends, whether it can be overridden',
  help: 'Without a RULE lists all of them.',
  options: [outputOption],
  connects: false,
  run: (host, [name], given) => {
    const format = formatOf(given, outputOption);
    const explained = (name === undefined ? holdRules : [ruleNamed(name)]).map(explanation);
    const [one] = explained;
    if (format !== 'table') {
      writeData(host, format, name === undefined ? explained : one);
      return 0;
    }
    if (name === undefined || one === undefined) {
      const rows = explained.map(({ rule, overridable, meaning }) => [
        line(rule, 'bold'),
        line(overridable ? 'yes' : 'no'),
        line(meaning),
      ]);
      writeLines(host, table(['RULE', 'OVERRIDABLE', 'MEANING'], rows));
      return 0;
    }
    const { rule, meaning, details, endedBy, ends, overridable, overriding } = one;
    writeLines(host, [
      line(rule, 'bold'),
      line(`  meaning    ${details === undefined ? meaning : `${meaning} ${details}`}`),
      line(`  ended by   ${endedBy.join(', ')}`),
      line(`  how        ${ends}`),
      line(
        `  override   ${overridable ? `${host.program} override NAME ${rule} --for 30m --reason …` : 'not possible: the rule protects data, quorum or service, or nothing could be done without it'}`,
      ),
      ...(overriding === undefined ? [] : [line(`             ${overriding}`)]),
    ]);
    return 0;
  },
};

function explanation(rule: HoldRule) {
  const { meaning, details, endedBy, ends, overridable = false, overriding, requestedBy } = rules[rule];
  return { rule, meaning, details, endedBy, ends, overridable, overriding, requestedBy };
}
