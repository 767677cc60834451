/** Something that goes on in the background from the start of the server to its end. */
export interface Worker {
  /** In the log: what it does, `tidying event queues`. */
  readonly name: string;
  start(): void;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}
