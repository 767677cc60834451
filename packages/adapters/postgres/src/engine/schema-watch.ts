import type { Migration } from '@parley/storage';
import type { Pool } from 'pg';
import { pendingSteps, UnknownSchema } from './migrate.js';

/** Interval between schema checks, which take two short statements each. */
const LOOK_MS = 2000;
/** Time after which a check without a response shows that the database server does not respond. */
const STUCK_MS = 3000;

/** Detects that another version has migrated the schema beyond this version. */
export class SchemaWatch {
  private lookedAt = performance.now();
  private isLooking = false;
  private isKnown = true;

  /**
   * @param onUnknown called once, with a reason for the operator
   * @param onStuck called every second while the database server does not respond
   */
  constructor(
    private readonly pool: Pool,
    private readonly migrations: readonly Migration[],
    private readonly onUnknown: (reason: string) => void,
    private readonly onStuck: () => void,
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
    const passedMs = performance.now() - this.lookedAt;
    if (this.isLooking && passedMs > STUCK_MS) this.onStuck();
    if (this.isLooking || passedMs < LOOK_MS) return;
    this.lookedAt = performance.now();
    void this.look();
  }

  private async look(): Promise<void> {
    this.isLooking = true;
    try {
      await pendingSteps(this.pool, this.migrations);
    } catch (error) {
      // An unreachable database says nothing about the schema.
      if (!(error instanceof UnknownSchema) || !this.isKnown) return;
      this.isKnown = false;
      this.onUnknown(error.message);
    } finally {
      this.isLooking = false;
    }
  }
}
