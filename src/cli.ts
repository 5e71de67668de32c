#!/usr/bin/env node
import { realHost } from './cli/host.ts';
import { runCli } from './cli/run.ts';

process.exitCode = await runCli(process.argv.slice(2), realHost());
