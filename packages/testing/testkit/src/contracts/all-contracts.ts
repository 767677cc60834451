import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclaredTables } from './rows.contract.js';
import type { OpenStorage } from './storage-under-test.js';

/** Contracts of ports outside storage. */
const OTHERS = ['blob-store', 'bus', 'image-processor', 'partial-blob-store'].map((name) => `${name}.contract.ts`);

type Contract = (open: OpenStorage, tables: DeclaredTables) => void;

/**
 * All contracts of this folder that concern storage. `tables`: `ROW_TABLES` of `storage`. Call it at the top of a test file or inside its `describe`;
 * requires Jest.
 */
export function storageContracts(open: OpenStorage, tables: DeclaredTables): void {
  const files = readdirSync(__dirname).filter((name) => name.endsWith('.contract.ts') && !OTHERS.includes(name));
  for (const file of files) {
    const contracts: Readonly<Record<string, unknown>> = require(join(__dirname, file));
    for (const [name, contract] of Object.entries(contracts)) {
      if (name.endsWith('Contract')) (contract as Contract)(open, tables);
    }
  }
}
