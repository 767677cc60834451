/** The machine's event loop, as a port: long work lets others go first. */
export interface EventLoop {
  /** Resolves in a later turn, after what else was due has run. */
  nextTurn(): Promise<void>;
}
