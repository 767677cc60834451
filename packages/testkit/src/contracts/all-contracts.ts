import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenStorage } from './storage-under-test.js';

/** Contracts of ports that are no part of a storage. */
const OTHERS = ['blob-store', 'bus', 'image-processor', 'partial-blob-store'].map((name) => `${name}.contract.ts`);

/**
 * Everything that a storage has promised: all contracts of this folder. Called at the top of a test file, or inside its
 * `describe`; works under Jest only.
 */
export function storageContracts(open: OpenStorage): void {
  const files = readdirSync(__dirname).filter((name) => name.endsWith('.contract.ts') && !OTHERS.includes(name));
  for (const file of files) {
    const contracts: Readonly<Record<string, unknown>> = require(join(__dirname, file));
    for (const [name, contract] of Object.entries(contracts)) {
      if (name.endsWith('Contract')) (contract as (open: OpenStorage) => void)(open);
    }
  }
}
