// Limits on the answers of the API server that this program reads. Tenants may write objects of any size.

/**
 * The maximum number of JSON values in one object. Real objects have a few thousand values, but the API server accepts
 * half a million. Parsing so many would block the thread that renews the lease for a second, each time a tenant changes
 * the object.
 */
export const mostValuesOfObject = 50_000;

/** The maximum size of one object as JSON. etcd accepts 1.5 MB, and JSON encodes some characters as six bytes. */
export const mostBytesOfObject = 16 * 1024 * 1024;

/** The limits of one page of a list. The number of values does not limit a page of one object. */
export const mostValuesOfPage = 1_000_000;
export const mostBytesOfPage = 16 * 1024 * 1024;
