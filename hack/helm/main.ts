import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { chartDirectory, chartFiles } from './chart.ts';

// Writes what of the chart follows from config and from the program's flags.

const files = Object.entries(await chartFiles());
for (const [path, text] of files) {
  const file = join(chartDirectory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
console.log(`${files.length} files in config/helm/moco-rollout`);
