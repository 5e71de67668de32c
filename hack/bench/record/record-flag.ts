import { parseArgs } from 'node:util';
import { type Parsed, parsed } from '../program/run-program.ts';

/** The flags of a benchmark that only writes a record, from `argv`. `script` is its path from the project's root. */
export function parseRecordFlag(
  script: string,
  argv: readonly string[],
): Parsed<{ readonly record: string | undefined }> {
  const usage = `Usage: hack/node.sh ${script} [flags]

  --record FILE  write the numbers into that file, as docs/performance has them
`;
  return parsed(
    () => usage,
    () => {
      const options = { record: { type: 'string' }, help: { type: 'boolean' } } as const;
      const { values } = parseArgs({ args: [...argv], options });
      return values.help ? null : { record: values.record };
    },
  );
}
