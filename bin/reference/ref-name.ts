// Names behind the references of OpenAPI and AsyncAPI.

/** The last part of a reference: the name of its schema. */
export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);
