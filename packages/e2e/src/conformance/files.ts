import { resolve } from 'node:path';

/** The recordings and what is kept beside them. */
export const DATA = resolve(import.meta.dirname, '../../conformance');
