/** Whether what is read and written is still what is found under the database's name. */
export interface StorageGuard {
  /** Asked before each unit. @throws DomainError STORAGE_UNAVAILABLE once the files are known to be others. */
  requireIntact(): void;
  /**
   * Looks for the files that hold what is committed. Asked after each commit, before anybody is answered, and where a
   * connection is opened. @throws the same
   */
  verifyNames(): void;
}
