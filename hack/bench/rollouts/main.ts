import { interruption } from '../program/interruption.ts';
import { sayTo } from '../program/progress.ts';
import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { parseRolloutsBenchArguments, type RolloutsBenchOptions } from './arguments.ts';
import { missedFigures } from './figures.ts';
import { inWords, type Use } from './machine-use.ts';
import { cellsOf, rowsOf, waysOf } from './matrix.ts';
import { measurePlane } from './plane.ts';
import { rawOf } from './raw.ts';
import { type Measured, Results } from './results.ts';
import { tablesOf } from './tables.ts';

await runProgram(parseRolloutsBenchArguments(process.argv.slice(2)), run);

async function run(options: RolloutsBenchOptions): Promise<void> {
  const recording = new Recording('rollouts');
  const say = sayTo(options.json);
  const rows = rowsOf(options.full, options.only);
  const ways = waysOf(options.only);
  const settings = [...new Set(ways.map(({ setting }) => setting))];
  const planes = settings.map((setting) => ({ setting, cells: cellsOf(setting, rows, ways, options.runs) }));
  const interrupted = interruption();
  const measured: Measured[] = [];
  const uses: Use[] = [];
  /** Of the ways on measured control planes. */
  const resultsSoFar = (): Results => {
    const done = new Set(measured.map(({ cell }) => cell.way));
    return new Results(
      rows,
      ways.filter((way) => done.has(way)),
      measured,
    );
  };
  for (const { setting, cells } of planes.filter((plane) => plane.cells.length > 0)) {
    say(`${cells.length} rollouts ${setting.name}`);
    const plane = await measurePlane(setting, cells, say, interrupted);
    measured.push(...plane.measured);
    uses.push(plane.use);
    const soFar = resultsSoFar();
    // After each: the next one takes long, and may never finish.
    await recording.write(options.record, tablesOf(soFar), rawOf(soFar, uses, missedFigures(soFar)));
  }
  const results = resultsSoFar();
  const missed = missedFigures(results);
  const tables = tablesOf(results);
  for (const table of tables) say(`\n${textOf(table)}`);
  say('');
  for (const { title, explanation } of [...ways, ...new Set(rows.map(({ scenario }) => scenario))]) {
    say(`  ${title}: ${explanation}`);
  }
  for (const sentence of results.waiting()) say(`  ${sentence}`);
  for (const use of uses) say(`  ${inWords(use)}`);
  if (options.json) {
    const record = recording.record(tables, rawOf(results, uses, missed));
    process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  }
  if (missed.length > 0) throw new Error(['Missed:', ...missed].join('\n  '));
}
