import { goTool, goToolNames } from './build.ts';

for (const name of goToolNames) process.stdout.write(`${await goTool(name)}\n`);
