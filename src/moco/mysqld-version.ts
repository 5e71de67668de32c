import { type Json, named, text } from '../base/json.ts';
import {
  isCalendarVersion,
  type MysqldFacts,
  type MysqlVersion,
  parseMysqlVersion,
  versionText,
} from '../core/mysql-versions.ts';
import { mysqldContainer } from './names.ts';

/**
 * The version of mysqld in the tag of an image such as `ghcr.io/cybozu-go/moco/mysql:8.4.8.1@sha256:…`, or `null` if
 * there is none. A tag such as `26.11.28` may be a date.
 */
export function versionOfImage(image: string): MysqlVersion | null {
  const [name = ''] = image.split('@', 1);
  const [, tag = ''] = name.slice(name.lastIndexOf('/') + 1).split(':');
  const version = parseMysqlVersion(tag);
  return version === null || isCalendarVersion(version) ? null : version;
}

/** What a pod spec shows about its mysqld. */
export function mysqldIn(spec: Json): MysqldFacts {
  const image = text(named(spec['containers'], mysqldContainer)['image']);
  const version = image === null ? null : versionOfImage(image);
  return { image, version: version && { version: versionText(version), source: 'tag' } };
}
