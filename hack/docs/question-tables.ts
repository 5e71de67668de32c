import { questionKinds, rowOf } from '../../src/controller/questions/questions.ts';
import { asked } from '../../src/core/questions.ts';
import type { Sections } from './sections.ts';
import { code, definitionList, table } from './table.ts';

/** The generated sections about questions in the controller's SPEC.md. Two tables in the code list the questions. */
export const questionSections: Readonly<Record<string, () => Sections>> = {
  'src/controller/SPEC.md': () => ({ questions: questionList(), 'questions again': againTable() }),
};

function questionList(): string {
  return questionKinds
    .map((kind) => {
      const { asks, lasts, silence, status } = rowOf(kind);
      const shown = [status.whileOutstanding, ...(status.shows === undefined ? [] : [`then ${status.shows}`])];
      const about: readonly (readonly [string, string])[] = [
        ['an answer lasts', lasts],
        ['silence means', silence],
        ['users see meanwhile', shown.join('; ')],
      ];
      return [definitionList([[code(kind), asks]]), definitionList(about, 2)].join('\n');
    })
    .join('\n');
}

const orders = {
  beforeClock: 'first, before the clock starts: members may take long',
  withObjects: 'in parallel with the objects of the cluster',
} as const;

function againTable(): string {
  const rows = questionKinds.flatMap((kind) => {
    const { again } = asked[kind];
    const { confirm } = rowOf(kind);
    if (again === null || confirm === null) return [];
    const before = again.before === 'every confirmed step' ? again.before : again.before.map(code).join(', ');
    return [[code(kind), before, orders[confirm.order]]];
  });
  return table(['question', 'asked again before a step with the effect', 'when'], rows);
}
