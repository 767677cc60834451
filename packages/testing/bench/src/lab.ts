import { closeSync, copyFileSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { Child, type ChildOptions } from './harness/child.js';
import { EjabberdServer } from './harness/ejabberd-server.js';
import { HttpLoad } from './harness/http-load.js';
import { ParleyServer } from './harness/parley-server.js';

/** Creates a database at the path and returns its contents. */
export type WorldBuilder<T> = (database: string, lab: Lab) => Promise<T>;

interface Built {
  readonly database: string;
  readonly contents: unknown;
}

export interface LabOptions {
  /** True for small sizes and one round. */
  readonly isQuick: boolean;
  /** Folder for CPU profiles of measured servers; null for none. */
  readonly profileFolder: string | null;
  /** Folder of another built checkout, which some workloads measure too; null for none. */
  readonly otherBuild: string | null;
  /** Size of the workloads `import` and `erasure`, unless the run is quick. */
  readonly messages: number;
  /** Receives progress lines. */
  readonly say: (line: string) => void;
}

/** Environment of workloads: sizes, databases created once per run, and processes that end with the workload. */
export class Lab {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  private readonly built = new Map<WorldBuilder<never>, Promise<Built>>();
  private readonly running: { stop(): Promise<void> }[] = [];
  private files = 0;

  constructor(private readonly options: LabOptions) {}

  /** Number of rounds per contender. */
  get rounds(): number {
    return this.size(7, 1);
  }

  get isQuick(): boolean {
    return this.options.isQuick;
  }

  get messages(): number {
    return this.size(this.options.messages, 1000);
  }

  /** Returns the first size, or the second in a quick run. */
  size(full: number, quick: number): number {
    return this.isQuick ? quick : full;
  }

  /** Copies the world to a new file, so that changes are discarded. */
  async copyOf<T>(build: WorldBuilder<T>): Promise<{ readonly database: string; readonly contents: T }> {
    const { database, contents } = await this.world(build);
    const copy = this.newFile();
    copyFileSync(database, copy);
    // Otherwise the server's first commits would wait for the copy to reach the disk.
    const file = openSync(copy, 'r+');
    fsyncSync(file);
    closeSync(file);
    return { database: copy, contents: contents as T };
  }

  async serve(
    database: string,
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ParleyServer> {
    return this.keep(await ParleyServer.start(database, flags, this.options.profileFolder, env));
  }

  /** @throws Error if ejabberd is not installed */
  async ejabberd(): Promise<EjabberdServer> {
    return this.keep(await EjabberdServer.start());
  }

  /** Serves the world by the other build, which creates it, because schemas may differ; null without another build. */
  async serveOtherBuild(build: WorldBuilder<unknown>): Promise<ParleyServer | null> {
    const { otherBuild } = this.options;
    if (otherBuild === null) return null;
    const urlOf = (path: string) => pathToFileURL(join(otherBuild, 'packages', path));
    const worlds: Record<string, WorldBuilder<unknown>> = await import(
      urlOf('testing/bench/dist/worlds/worlds.js').href
    );
    const { database } = await this.copyOf(worlds[build.name]!);
    return this.keep(await ParleyServer.start(database, [], null, {}, urlOf('server/dist/bundle/main.js')));
  }

  /** Starts a script of `children/`. */
  start(script: string, options: ChildOptions): Child {
    return this.keep(Child.start(new URL(`./children/${script}.js`, import.meta.url), options));
  }

  load(): HttpLoad {
    return this.keep(new HttpLoad());
  }

  /** Path in a new folder, since files next to a database belong to one database. */
  newFile(): string {
    const folder = join(this.folder, String(++this.files));
    mkdirSync(folder);
    return join(folder, 'parley.db');
  }

  /** Called between workloads, so that none affects the next. */
  async stopAll(): Promise<void> {
    await Promise.all(this.running.splice(0).map((each) => each.stop()));
  }

  async close(): Promise<void> {
    await this.stopAll();
    this.removeFiles();
  }

  /** Synchronous variant; child processes end with their parent. */
  removeFiles(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private keep<T extends { stop(): Promise<void> }>(started: T): T {
    this.running.push(started);
    return started;
  }

  private world<T>(build: WorldBuilder<T>): Promise<Built> {
    const existing = this.built.get(build as WorldBuilder<never>);
    if (existing) return existing;
    const made = this.make(build);
    this.built.set(build as WorldBuilder<never>, made);
    return made;
  }

  private async make<T>(build: WorldBuilder<T>): Promise<Built> {
    const startedAt = performance.now();
    const database = this.newFile();
    const contents = await build(database, this);
    this.options.say(`  made ${build.name} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return { database, contents };
  }
}
