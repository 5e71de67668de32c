import { line, piece } from '../../src/cli/painted.ts';
import { Recording } from '../bench-record/record.ts';
import { textOf } from '../bench-record/table.ts';
import { interruption } from '../demo/interruption.ts';
import { outputTo } from '../demo/output.ts';
import { runProgram } from '../demo/run-program.ts';
import { parseRolloutsBenchArguments, type RolloutsBenchOptions } from './arguments.ts';
import { barLines } from './bars.ts';
import { missedFigures } from './figures.ts';
import { inWords, isTooBusy, type Use } from './machine-use.ts';
import { cellsOf, rowsOf, waysOf } from './matrix.ts';
import { measurePlane } from './plane.ts';
import { rawOf } from './raw.ts';
import { type Measured, Results } from './results.ts';
import { tablesOf } from './tables.ts';

const barMembers = 3;
const barRestartSeconds = 2;

await runProgram(parseRolloutsBenchArguments(process.argv.slice(2)), run);

async function run(options: RolloutsBenchOptions): Promise<void> {
  const recording = new Recording('rollouts');
  const output = outputTo(options.json ? process.stderr : process.stdout, process.env);
  const rows = rowsOf(options.full, options.only);
  const ways = waysOf(options.only);
  const settings = [...new Set(ways.map(({ setting }) => setting))];
  const planes = settings.map((setting) => ({ setting, cells: cellsOf(setting, rows, ways, options.runs) }));
  const interrupted = interruption();
  const measured: Measured[] = [];
  const uses: Use[] = [];
  /** Of the ways whose control plane has been measured. */
  const resultsSoFar = (): Results => {
    const done = new Set(measured.map(({ cell }) => cell.way));
    return new Results(
      rows,
      ways.filter((way) => done.has(way)),
      measured,
    );
  };
  for (const { setting, cells } of planes.filter((plane) => plane.cells.length > 0)) {
    output.line(line(`${cells.length} rollouts ${setting.name}`, 'bold'));
    const plane = await measurePlane(setting, cells, output, interrupted);
    measured.push(...plane.measured);
    uses.push(plane.use);
    const soFar = resultsSoFar();
    // After each: the next one takes long, and may never come to its end.
    await recording.write(options.record, tablesOf(soFar), rawOf(soFar, uses, missedFigures(soFar)));
  }
  const results = resultsSoFar();
  const missed = missedFigures(results);
  const tables = tablesOf(results);
  const bars = rows.filter((row) => row.members === barMembers && row.restartSeconds === barRestartSeconds);
  for (const row of bars.slice(0, 1)) for (const one of [[], ...barLines(results, row)]) output.line(one);
  for (const table of tables) for (const text of ['', ...textOf(table).split('\n')]) output.line(line(text));
  output.line([]);
  for (const { title, explanation } of [...ways, ...new Set(rows.map(({ scenario }) => scenario))]) {
    output.line([piece(`  ${title}: ${explanation}`, 'dim')]);
  }
  for (const sentence of results.waiting()) output.line([piece(`  ${sentence}`, 'yellow')]);
  for (const use of uses) output.line([piece(`  ${inWords(use)}`, isTooBusy(use) ? 'yellow' : 'dim')]);
  if (options.json) {
    const record = recording.record(tables, rawOf(results, uses, missed));
    process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  }
  if (missed.length > 0) throw new Error(['Missed:', ...missed].join('\n  '));
}
