import { realMocoFiles } from './build.ts';

const { controller, configuration } = await realMocoFiles();
process.stdout.write(`${controller}\n${configuration}\n`);
