import type { Migration } from '@parley/storage';
import type { Pool } from 'pg';
import { pendingSteps, UnknownSchema } from './migrate.js';

/** Interval between schema checks, which take two short statements each. */
const LOOK_MS = 2000;

/** Detects that another version has migrated the schema beyond this version. */
export class SchemaWatch {
  private lookedAt = performance.now();
  private isKnown = true;

  /** @param onUnknown called once, with a reason for the operator */
  constructor(
    private readonly pool: Pool,
    private readonly migrations: readonly Migration[],
    private readonly onUnknown: (reason: string) => void,
  ) {}

  get hasOwnSchema(): boolean {
    return this.isKnown;
  }

  /**
   * Called every second. Checks the schema at intervals and does not wait for the result. @throws Error once the schema
   * is unknown
   */
  verify(): void {
    if (!this.isKnown) throw new Error('Another version has changed the schema');
    if (performance.now() - this.lookedAt < LOOK_MS) return;
    this.lookedAt = performance.now();
    void this.look();
  }

  private async look(): Promise<void> {
    try {
      await pendingSteps(this.pool, this.migrations);
    } catch (error) {
      // An unreachable database says nothing about the schema.
      if (!(error instanceof UnknownSchema) || !this.isKnown) return;
      this.isKnown = false;
      this.onUnknown(error.message);
    }
  }
}
