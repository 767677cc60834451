import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import {
  corruptAnimation,
  type ImageInfo,
  type ImageProcessor,
  type ImageTarget,
  imageTooLarge,
  type ProcessedImage,
  unknownAnimationFormat,
  unreadableImage,
} from '@parley/domain/files';
import { DomainError, MissingLibrary, RealmWorkQueue, type WorkOwner } from '@parley/domain/kernel';
import type { DocumentReader } from './file-texts.js';
import { SharpImageProcessor } from './sharp-image-processor.js';

/** Request to the process; `target` is null for inspection only. */
export interface ImageJob {
  readonly image: Uint8Array;
  readonly target: ImageTarget | null;
}

/** Request for the text of a document. */
export interface DocumentJob {
  readonly document: Uint8Array;
  readonly contentType: string;
}

/** Response with an error code, since errors cannot be transferred. */
export type ImageAnswer =
  | { readonly result: ImageInfo | ProcessedImage | string }
  | { readonly refusal: Refusal; readonly problem?: string };

const REFUSALS = {
  UNREADABLE_IMAGE: unreadableImage,
  IMAGE_TOO_LARGE: imageTooLarge,
  CORRUPT_ANIMATION: corruptAnimation,
  UNKNOWN_ANIMATION_FORMAT: unknownAnimationFormat,
};
type Refusal = keyof typeof REFUSALS;

/** Runs the job in the current process. Rejects documents without `readDocument`. */
export async function answerJob(
  processor: SharpImageProcessor,
  job: ImageJob | DocumentJob,
  readDocument?: (document: Uint8Array, contentType: string) => Promise<string>,
): Promise<ImageAnswer> {
  try {
    if ('document' in job) {
      if (!readDocument) throw unreadableImage();
      return { result: await readDocument(job.document, job.contentType) };
    }
    const { image, target } = job;
    return { result: target === null ? await processor.inspect(image) : await processor.resize(image, target) };
  } catch (error) {
    const code = error instanceof DomainError ? error.code : '';
    if (error instanceof MissingLibrary) return { refusal: 'UNREADABLE_IMAGE', problem: error.message };
    return { refusal: code in REFUSALS ? (code as Refusal) : 'UNREADABLE_IMAGE' };
  }
}

/** Returns the result or throws the error. @throws DomainError of the error code */
export function resultOf(answer: ImageAnswer): ImageInfo | ProcessedImage {
  if ('refusal' in answer) throw REFUSALS[answer.refusal]();
  return answer.result as ImageInfo | ProcessedImage;
}

interface Order {
  readonly job: ImageJob | DocumentJob;
  readonly deliver: (answer: ImageAnswer) => void;
}

interface Room {
  readonly jobs: number;
  readonly bytes: number;
}

const EMPTY: Room = { jobs: 0, bytes: 0 };
const MIB = 1024 * 1024;
/** Maximum number and bytes of waiting jobs; further ones are rejected. A single job is always accepted. */
const MAX_WAITING: Room = { jobs: 100, bytes: 128 * MIB };
/** Same limits per realm, so that one realm leaves room for others. */
const MAX_WAITING_OF_REALM: Room = { jobs: 50, bytes: 64 * MIB };
/** Same limits per user. */
const MAX_WAITING_OF_USER: Room = { jobs: 20, bytes: 48 * MIB };
/** Timeout for an image, in case the library's own time limit fails. */
const IMAGE_MS = 20_000;
/** Timeout for a document, which must exceed `MAX_MS` of PDF files. Their library has no time limit within a page. */
const DOCUMENT_MS = 12_000;
/** Idle time after which the process ends to free its memory. */
const IDLE_MS = 30_000;
const MAX_HEAP_MB = 256;

/** Returns the script; null if it is missing, as in a rebundled program. */
export function findImageScript(): string | null {
  try {
    return createRequire(import.meta.url).resolve('./image-child.js');
  } catch {
    return null;
  }
}

const serverBusy = (): DomainError =>
  new DomainError('SERVER_BUSY', 'Too many images are being read; try again in a moment.', { retryAfter: 1 });

export interface ImageProcessOptions {
  readonly script?: string | null;
  readonly imageMs?: number;
  readonly documentMs?: number;
  /** Receives each problem of the installation once. */
  readonly report?: (problem: string) => void;
}

/** Processes images and documents in a separate process for each kind, so that documents never delay images. */
export class ImageProcess implements ImageProcessor, DocumentReader {
  private readonly images: FileProcess;
  private readonly documents: FileProcess;

  constructor({
    script = findImageScript(),
    imageMs = IMAGE_MS,
    documentMs = DOCUMENT_MS,
    report = () => {},
  }: ImageProcessOptions = {}) {
    this.images = new FileProcess(script, imageMs, report);
    this.documents = new FileProcess(script, documentMs, report);
  }

  async inspect(image: Uint8Array, owner: WorkOwner): Promise<ImageInfo> {
    return resultOf(await this.images.order(owner, { image, target: null }));
  }

  async resize(image: Uint8Array, target: ImageTarget, owner: WorkOwner): Promise<ProcessedImage> {
    return resultOf(await this.images.order(owner, { image, target })) as ProcessedImage;
  }

  async readDocument(document: Uint8Array, contentType: string, owner: WorkOwner): Promise<string | null> {
    const answer = await this.documents.order(owner, { document, contentType });
    return 'result' in answer ? (answer.result as string) : null;
  }

  close(): void {
    this.images.close();
    this.documents.close();
  }
}

/** Number and bytes of waiting jobs: in total, by realm and by user. */
class Waiting {
  private readonly rooms = new Map<string, Room>();

  get isEmpty(): boolean {
    return this.rooms.size === 0;
  }

  /** Returns a function that removes the job; further calls have no effect. @throws DomainError SERVER_BUSY */
  enter({ realmId, userId }: WorkOwner, bytes: number): () => void {
    const limits: readonly (readonly [string, Room])[] = [
      ['', MAX_WAITING],
      [`${realmId}`, MAX_WAITING_OF_REALM],
      [`${realmId}/${userId}`, MAX_WAITING_OF_USER],
    ];
    for (const [key, max] of limits) {
      const { jobs, bytes: taken } = this.rooms.get(key) ?? EMPTY;
      if (jobs > 0 && (jobs >= max.jobs || taken + bytes > max.bytes)) throw serverBusy();
    }
    const count = (jobs: 1 | -1): void => {
      for (const [key] of limits) {
        const before = this.rooms.get(key) ?? EMPTY;
        const room = { jobs: before.jobs + jobs, bytes: before.bytes + jobs * bytes };
        if (room.jobs > 0) this.rooms.set(key, room);
        else this.rooms.delete(key);
      }
    };
    count(1);
    let isWaiting = true;
    return () => {
      if (isWaiting) count(-1);
      isWaiting = false;
    };
  }
}

/**
 * Runs jobs in a separate process, started on demand and stopped when idle. A file that crashes, blocks or exhausts a
 * library ends only that process, which contains no secrets. Processes one file at a time, round-robin by realm and then by user.
 * Falls back to the caller's process if none can be started.
 */
class FileProcess {
  private child: ChildProcess | null = null;
  private readonly queue = new RealmWorkQueue({ concurrency: 1, refusal: serverBusy });
  private readonly waiting = new Waiting();
  private current: Order | null = null;
  private deadline: NodeJS.Timeout | undefined;
  private idle: NodeJS.Timeout | undefined;
  private isClosed = false;
  private readonly reported = new Set<string>();

  constructor(
    private script: string | null,
    private readonly patienceMs: number,
    private readonly report: (problem: string) => void,
  ) {}

  close(): void {
    this.isClosed = true;
    this.queue.clear();
    this.end();
  }

  async order(owner: WorkOwner, job: ImageJob | DocumentJob): Promise<ImageAnswer> {
    const { length } = 'document' in job ? job.document : job.image;
    if (this.isClosed) throw serverBusy();
    const leave = this.waiting.enter(owner, length);
    return this.queue
      .run(owner, () => {
        leave();
        return this.read(job);
      })
      .finally(leave);
  }

  private read(job: ImageJob | DocumentJob): Promise<ImageAnswer> {
    clearTimeout(this.idle);
    return new Promise((deliver) => {
      this.current = { job, deliver };
      this.work(job);
    });
  }

  private work(job: ImageJob | DocumentJob): void {
    try {
      if (this.script !== null) {
        this.send(job, this.script);
        return;
      }
    } catch {
      // Node's permission model may forbid starting processes.
      this.script = null;
    }
    // HEIC and documents are rejected, because their decoders would block the event loop.
    void answerJob(new SharpImageProcessor(), job).then((answer) => this.finish(answer));
  }

  private send(job: ImageJob | DocumentJob, script: string): void {
    this.child ??= this.start(script);
    const { child } = this;
    child.ref();
    child.channel?.ref();
    child.send(job, (error) => error && this.lose(child, 'UNREADABLE_IMAGE'));
    this.deadline = setTimeout(() => this.lose(child, 'IMAGE_TOO_LARGE'), this.patienceMs);
  }

  private start(script: string): ChildProcess {
    const child = fork(script, [], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      env: {
        // One thread, since images are processed one at a time; one arena returns freed memory to the system.
        UV_THREADPOOL_SIZE: '1',
        MALLOC_ARENA_MAX: '1',
        ...(process.env.SystemRoot !== undefined && { SystemRoot: process.env.SystemRoot }),
      },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (answer) => {
      if (child !== this.child) return;
      const { problem } = answer as { readonly problem?: string };
      if (problem !== undefined && !this.reported.has(problem)) this.report(problem);
      if (problem !== undefined) this.reported.add(problem);
      this.finish(answer as ImageAnswer);
    });
    for (const event of ['error', 'exit']) child.on(event, () => this.lose(child, 'UNREADABLE_IMAGE'));
    try {
      // Requests take priority over images.
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // Keeps the default priority if it cannot be changed.
    }
    return child;
  }

  /** Ends the process if necessary and rejects its job. */
  private lose(child: ChildProcess, refusal: 'UNREADABLE_IMAGE' | 'IMAGE_TOO_LARGE'): void {
    if (child !== this.child) return;
    this.child = null;
    child.kill('SIGKILL');
    if (child.pid !== undefined || !this.current) {
      this.finish({ refusal });
      return;
    }
    // No process could be started.
    this.script = null;
    clearTimeout(this.deadline);
    this.work(this.current.job);
  }

  private finish(answer: ImageAnswer): void {
    this.finishCurrent(answer);
    clearTimeout(this.idle);
    if (this.waiting.isEmpty) this.idle = setTimeout(() => this.end(), IDLE_MS).unref();
  }

  private finishCurrent(answer: ImageAnswer): void {
    clearTimeout(this.deadline);
    // An idle process must not keep the parent alive.
    this.child?.unref();
    this.child?.channel?.unref();
    const order = this.current;
    this.current = null;
    order?.deliver(answer);
  }

  private end(): void {
    clearTimeout(this.idle);
    const { child } = this;
    this.child = null;
    child?.kill('SIGKILL');
    this.finishCurrent({ refusal: 'UNREADABLE_IMAGE' });
  }
}
