import { interruption } from '../program/interruption.ts';
import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { parseRolloutsBenchArguments, type RolloutsBenchOptions } from './arguments.ts';
import { missedFigures } from './figures.ts';
import { cellsOf, rowTitle } from './matrix.ts';
import { measurePlane } from './plane.ts';
import { type Measured, Results } from './results.ts';
import { scenarios } from './scenario.ts';
import { tablesOf } from './tables.ts';
import { ways } from './way.ts';

await runProgram(parseRolloutsBenchArguments(process.argv.slice(2)), run);

async function run(options: RolloutsBenchOptions): Promise<void> {
  const recording = new Recording('rollouts');
  const say = (line: string): void => console.log(line);
  const planes = Map.groupBy(cellsOf(options.runs, options.only), ({ way }) => way.setting);
  const interrupted = interruption();
  const measured: Measured[] = [];
  for (const [setting, cells] of planes) {
    say(`${cells.length} rollouts ${setting.name}`);
    measured.push(...(await measurePlane(setting, cells, say, interrupted)));
    const soFar = new Results(measured);
    const raw = measured.map(({ cell, result }) => ({
      way: cell.way.slug,
      row: rowTitle(cell),
      ...result,
    }));
    // After each: the next one takes long, and may never finish.
    await recording.write(options.record, tablesOf(soFar), { missed: missedFigures(soFar), measured: raw });
  }
  const results = new Results(measured);
  const missed = missedFigures(results);
  for (const table of tablesOf(results)) say(`\n${textOf(table)}`);
  say('');
  for (const { title, explanation } of [...ways, ...scenarios]) {
    say(`  ${title}: ${explanation}`);
  }
  for (const sentence of results.waiting()) say(`  ${sentence}`);
  if (missed.length > 0) throw new Error(['Missed:', ...missed].join('\n  '));
}
