import { timestampOf } from '../../moco/timestamp.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or an attribute, since others wrote it. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Such as `2026-07-01 12:00:41`, in UTC. */
export function instant(moment: number): string {
  return timestampOf(moment).slice(0, 19).replace('T', ' ');
}

/** Such as `12:00:41`, in UTC. */
export function timeOfDay(moment: number): string {
  return timestampOf(moment).slice(11, 19);
}
