import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const folder = fileURLToPath(new URL('../fixtures/cli/', import.meta.url));
const variable = 'UPDATE_GOLDEN';

/**
 * Compares a text with the one in `../fixtures/cli/`. With `UPDATE_GOLDEN=1` the text is written there instead, for a
 * person to read.
 */
export function expectGolden(name: string, text: string): void {
  const file = `${folder}${name}`;
  if (process.env[variable] === '1') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file), `${name} is missing: run this test with ${variable}=1 and read what it writes`).to.equal(
    true,
  );
  expect(text, `${name} (if it should be so: ${variable}=1)`).to.equal(readFileSync(file, 'utf8'));
}
