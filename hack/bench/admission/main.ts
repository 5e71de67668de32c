import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { parseRecordFlag } from '../record/record-flag.ts';
import { textOf } from '../record/table.ts';
import { Applies } from './applies.ts';
import { type Answers, figuresOf, isMissed, tablesOf } from './figures.ts';
import { type WayName, ways } from './ways.ts';

// What it costs that StatefulSets stay at OnDelete: MOCO applies them again with each of its reconciliations. Measured
// with the admission policy, with the webhook for older versions of Kubernetes, and without either.

const rounds = 3;

const recording = new Recording('admission');

await runProgram(parseRecordFlag('hack/bench/admission/main.ts', process.argv.slice(2)), async ({ record }) => {
  console.log('starting the control plane and moco-controller');
  const applies = await Applies.open();
  const measured: Record<WayName, Answers[]> = { neither: [], policy: [], webhook: [] };
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const way of ways) {
        console.log(`round ${round} of ${rounds}: ${way}`);
        measured[way].push(await applies.measure(way));
      }
    }
  } finally {
    await applies.close();
  }
  const figures = figuresOf(measured);
  const tables = tablesOf(measured, figures);
  for (const table of tables) console.log(`\n${textOf(table)}`);
  await recording.write(record, tables, measured);
  const missed = figures.filter(isMissed);
  if (missed.length > 0) throw new Error(`missed: ${missed.map(({ what }) => what).join(', ')}`);
});
