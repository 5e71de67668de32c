import { type Json } from '../../../src/base/json.ts';
import type { ExchangeRequest, ExchangeResponse } from '../../../src/base/world.ts';
import type { ApiAnswer, ApiRequest } from './api-answer.ts';

const encoder = new TextEncoder();
const texts = new WeakMap<object, string>();

/** JSON of an object that never changes. Its versions share what is the same in them, and so do their texts. */
export function textOf(object: object): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const fields = Object.entries(object).filter(([, value]) => value !== undefined);
  const text = `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${fieldText(value)}`).join(',')}}`;
  texts.set(object, text);
  return text;
}

function fieldText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}

export function parse({ method, path, headers, body }: ExchangeRequest, actor: string): ApiRequest {
  const [target = '', query] = path.split('?');
  const contentType = headers['content-type'];
  return {
    method,
    path: target,
    actor,
    ...(query !== undefined && { query: new URLSearchParams(query) }),
    ...(contentType !== undefined && { contentType }),
    ...(body !== undefined && { body: JSON.parse(body) as Json }),
  };
}

export function responseOf({ code, body, retryAfterSeconds }: ApiAnswer): ExchangeResponse {
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const items = body['items'] as readonly object[] | undefined;
  const { items: _, ...rest } = body;
  const text =
    items === undefined
      ? textOf(body)
      : `${JSON.stringify(rest).slice(0, -1)},"items":[${items.map(textOf).join(',')}]}`;
  return { status: code, headers, body: once(encoder.encode(text)) };
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
