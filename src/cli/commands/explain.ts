import { type HoldRule, holdRules, rules } from '../../core/rules/catalogue.ts';
import { UsageError } from '../../failure.ts';
import { didYouMean } from '../command-error.ts';
import { line, table } from '../terminal/lines.ts';
import { outputOption, writeResult } from '../terminal/output.ts';
import { localCommand } from './command.ts';

/** Finds a rule by its name, in any capitalization. */
export function ruleNamed(name: string): HoldRule {
  const rule = holdRules.find((known) => known.toLowerCase() === name.toLowerCase());
  if (rule !== undefined) return rule;
  throw new UsageError(`expected the name of a rule, got \`${name}\`${didYouMean(name, holdRules)}`);
}

export const explainCommand = localCommand({
  name: 'explain',
  arguments: '[RULE]',
  summary: 'Explain a rule: what it means, how it ends, whether it can be overridden',
  help: 'Without a RULE, lists all rules.',
  options: { output: outputOption },
  run: (host, [name], { output }) => {
    if (name === undefined) {
      const all = holdRules.map(explanation);
      const rows = all.map(({ rule, overridable, meaning }) => [rule, overridable ? 'yes' : 'no', meaning]);
      const cells = rows.map((row) => row.map((cell, at) => line(cell, at === 0 ? 'bold' : 'plain')));
      writeResult(host, output, all, () => table(['RULE', 'OVERRIDABLE', 'MEANING'], cells));
      return 0;
    }
    const one = explanation(ruleNamed(name));
    const { rule, meaning, details, endedBy, ends, overridable, overriding } = one;
    const override = overridable
      ? `${host.program} override NAME ${rule} --for 30m --reason …`
      : 'not possible: the rule protects data, quorum or service, or overriding it would not help';
    writeResult(host, output, one, () => [
      line(rule, 'bold'),
      line(`  meaning    ${details === undefined ? meaning : `${meaning} ${details}`}`),
      line(`  ended by   ${endedBy.join(', ')}`),
      line(`  how        ${ends}`),
      line(`  override   ${override}`),
      ...(overriding === undefined ? [] : [line(`             ${overriding}`)]),
    ]);
    return 0;
  },
});

function explanation(rule: HoldRule) {
  const { meaning, details, endedBy, ends, overridable = false, overriding, requestedBy } = rules[rule];
  return { rule, meaning, details, endedBy, ends, overridable, overriding, requestedBy };
}
