import { families } from '../../test/verification/explorer/world.ts';
import { mistakes } from '../../test/verification/mistakes/catalogue.ts';
import type { Mistake } from '../../test/verification/mistakes/mistake.ts';
import { narrowThemes, themes } from '../../test/verification/simulation/themes.ts';
import type { Sections } from './sections.ts';
import { code, definitionList, table } from './table.ts';

const layers = {
  snapshots: 'decisions on states drawn at random, judged by `violations()`',
  explorer: 'every interleaving of a small world, judged by `violations()` and by what has happened before',
  simulation: 'the whole controller in virtual time, judged by the witness',
  fleet: 'histories of a fleet in stages',
  cache: 'what a cache holds after answers that prove nothing',
} satisfies Readonly<Partial<Record<keyof Mistake, string>>>;
type Layer = keyof typeof layers;

const named = Object.entries(mistakes);
const layersOf = (mistake: Mistake): readonly Layer[] =>
  (Object.keys(layers) as Layer[]).filter((layer) => mistake[layer] !== undefined);
const familiesOf = ({ explorer }: Mistake): readonly string[] => [...(explorer?.world.families ?? [])];
const themesOf = ({ simulation = [] }: Mistake): readonly string[] => (Array.isArray(simulation) ? simulation : []);

/**
 * The generated sections of the catalogue's README: the mistakes that only one layer finds, and the families and themes
 * that no mistake uses.
 */
export function mistakeSections(): Sections {
  const alone = Object.entries(layers).map(([layer, what]) => {
    const found = named.filter(([, mistake]) => layersOf(mistake).includes(layer as Layer));
    const only = found.filter(([, mistake]) => layersOf(mistake).length === 1).map(([name]) => name);
    return { layer, what, found: found.length, only };
  });
  return {
    layers: table(
      ['layer', 'what it looks at', 'finds', 'alone'],
      alone.map(({ layer, what, found, only }) => [layer, what, `${found}`, `${only.length}`]),
    ),
    alone: definitionList(alone.map(({ layer, only }) => [layer, only.join('; ') || 'none'])),
    'without a mistake': definitionList([
      ['families of the explorer', withoutMistake(families, familiesOf)],
      ['themes of the simulation', withoutMistake(Object.keys({ ...themes, ...narrowThemes }), themesOf)],
    ]),
  };
}

function withoutMistake(all: readonly string[], usedBy: (mistake: Mistake) => readonly string[]): string {
  const used = new Set(named.flatMap(([, mistake]) => usedBy(mistake)));
  return (
    all
      .filter((one) => !used.has(one))
      .map(code)
      .join(', ') || 'none'
  );
}
