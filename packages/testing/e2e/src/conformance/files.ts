import { resolve } from 'node:path';

/** Folder of the recordings and related data. */
export const DATA = resolve(import.meta.dirname, '../../conformance');
