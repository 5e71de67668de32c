import { isAlarming, isRequestedByUser, ruleAttributes } from '../../core/rules/catalogue.ts';
import { type Line, line } from './colour.ts';
import { brief } from './durations.ts';
import { table } from './table.ts';
import type { ClusterView } from './view.ts';

/** The clusters that wait for a rule: those first that need a person, and of these those that have waited longest. */
export function byUrgency(views: readonly ClusterView[]): readonly ClusterView[] {
  return views.toSorted(
    (one, other) =>
      urgencyOf(one) - urgencyOf(other) || waited(other) - waited(one) || (keyOf(one) < keyOf(other) ? -1 : 1),
  );
}

/** A table of the rules that hold clusters: how many, for how long at most, and who ends that. */
export function holdTable(views: readonly ClusterView[]): readonly Line[] {
  const byRule = Map.groupBy(byUrgency(views), ({ hold }) => hold?.rule ?? '');
  return table(
    ['HOLD', 'CLUSTERS', 'LONGEST', 'ENDED BY'],
    [...byRule].map(([rule, held]) => [
      line(rule, held.some(needsAPerson) ? 'red' : 'bold'),
      line(String(held.length)),
      line(brief(Math.max(...held.map(waited)))),
      line(ruleAttributes(rule)?.endedBy.join(', ') ?? '-'),
    ]),
  );
}

const needsAPerson = ({ hold, stalled }: ClusterView): boolean => stalled || isAlarming(hold?.rule ?? '');

/** 0 for what needs a person now. */
function urgencyOf(view: ClusterView): number {
  const rule = view.hold?.rule ?? '';
  if (needsAPerson(view)) return 0;
  const endedBy = ruleAttributes(rule)?.endedBy ?? [];
  if (endedBy.every((who) => who === 'a person')) return 1;
  return isRequestedByUser(rule) ? 3 : 2;
}

const waited = ({ hold }: ClusterView): number => hold?.forSeconds ?? 0;
const keyOf = ({ namespace, name }: ClusterView): string => `${namespace}/${name}`;
