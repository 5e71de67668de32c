/** Returns the object without the fields that are `undefined`, so that they are not written as `null`. */
export function omitUndefined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
