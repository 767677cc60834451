/** Guards against loss of the database files. */
export interface StorageGuard {
  /** Called before each unit. @throws DomainError STORAGE_UNAVAILABLE after a detected loss */
  requireIntact(): void;
  /**
   * Checks that the file names still lead to the opened files. Called after each commit before it is acknowledged and
   * when a connection opens. @throws the same
   */
  verifyNames(): void;
}
