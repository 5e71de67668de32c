import { runsUntilFound } from './simulator.ts';

for (const name of process.argv.slice(2)) {
  const began = performance.now();
  const found = await runsUntilFound(name, 200);
  const [finding] = found?.outcome.violations ?? [];
  console.log(
    `| ${name} | ${found?.runs ?? 'not found'} | ${finding ? `${finding.law}: ${finding.text}` : ''} | ${Math.round(performance.now() - began)} ms`,
  );
}
