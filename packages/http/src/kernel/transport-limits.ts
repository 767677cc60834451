const KIB = 1024;
const MIB = 1024 * KIB;

/** What requests, answers and connections may cost, each and all together. The one place for these numbers. */
export interface TransportLimits {
  /** Of a body but its files, in bytes, before its sender has proved who they are; only such a body can change the method. */
  readonly anonymousBodyBytes: number;
  /** The same once they have. */
  readonly bodyBytes: number;
  /** Of one file; a longer one is cut and marked. All files of one request together may take twice that. */
  readonly fileBytes: number;

  /** Of all bodies that are being received or worked on: anonymous ones, those of users, and files. */
  readonly anonymousBodiesBytes: number;
  readonly bodiesBytes: number;
  readonly filesBytes: number;
  /** Files that are being stored, and bytes of resumable uploads, at the same time: of a server, and of one user. */
  readonly uploads: number;
  readonly uploadsPerUser: number;
  /** Of all answers that their readers have not taken yet. What goes to several readers counts once. */
  readonly answersBytes: number;

  /** From connecting, or from a request's first byte, to the end of its headers. */
  readonly headersMs: number;
  /** For the body, files apart. */
  readonly bodyMs: number;
  /** For a body with files. */
  readonly filesMs: number;
  /** For a reader to take what is waiting for them, before its size is counted in: see `answerBytesPerSecond`. */
  readonly answerMs: number;
  /** Slower readers are dropped. */
  readonly answerBytesPerSecond: number;
  /** How long what still comes of a refused request is thrown away before its connection ends. */
  readonly lingerMs: number;

  /** Of a server. */
  readonly connections: number;
  /** Of one address, unless it is this machine's own or proxies stand in front. */
  readonly connectionsPerAddress: number;
}

export const TRANSPORT_LIMITS: TransportLimits = {
  anonymousBodyBytes: 64 * KIB,
  bodyBytes: MIB,
  fileBytes: 100 * MIB,
  anonymousBodiesBytes: 16 * MIB,
  bodiesBytes: 128 * MIB,
  filesBytes: 512 * MIB,
  uploads: 400,
  uploadsPerUser: 10,
  answersBytes: 256 * MIB,
  headersMs: 15_000,
  bodyMs: 30_000,
  filesMs: 600_000,
  answerMs: 30_000,
  answerBytesPerSecond: 16 * KIB,
  lingerMs: 5000,
  connections: 20_000,
  connectionsPerAddress: 5000,
};

/** The part of a budget that one client can have: others are to get something too, whatever one of them does. */
export const CLIENT_SHARE = 1 / 8;
