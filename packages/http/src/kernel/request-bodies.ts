import type { IncomingMessage } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import { readBody } from './body.js';
import { type Body, type FileRules, type FileSink, NO_BODY } from './body-rules.js';
import { ByteBudget, Charge, type ClientKey } from './byte-budget.js';
import { clientOf, isProven, type Proof } from './caller-proof.js';
import type { ReceivedRequest } from './received-request.js';
import type { Route } from './route.js';
import { CLIENT_SHARE, type TransportLimits } from './transport-limits.js';

/** What the body of a request is read for, and what has to be given back when the request is over. */
export interface BodyOwner {
  readonly proof: Proof | undefined;
  readonly charges: Charge[];
  /** Files that were stored for it. */
  readonly blobs: ReceivedBlob[];
}

/** Reads bodies within what is left of the budgets: more from those who have proved who they are. */
export class RequestBodies {
  private readonly budgets;

  constructor(
    private readonly limits: TransportLimits,
    /** Of files that routes have stored; null: such routes get no files. */
    private readonly sink: FileSink | null,
  ) {
    const budget = (total: number, ofOneRequest: number) =>
      new ByteBudget(total, Math.max(total * CLIENT_SHARE, 2 * ofOneRequest));
    this.budgets = {
      anonymousBodies: budget(limits.anonymousBodiesBytes, limits.anonymousBodyBytes),
      bodies: budget(limits.bodiesBytes, limits.bodyBytes),
      files: budget(limits.filesBytes, 2 * limits.fileBytes),
      uploads: new ByteBudget(limits.uploads, limits.uploadsPerUser),
    };
  }

  get heldBytes(): number {
    const { anonymousBodies, bodies, files } = this.budgets;
    return anonymousBodies.used + bodies.used + files.used;
  }

  /** Whether anybody may make us keep it. */
  isSmall(raw: IncomingMessage): boolean {
    return Number(raw.headers['content-length'] ?? Number.NaN) <= this.limits.anonymousBodyBytes;
  }

  /** @throws HttpRefusal, ClientGone */
  read(request: ReceivedRequest, owner: BodyOwner, route: Route | undefined): Promise<Body> | Body {
    if (request.raw.headers['content-type'] === undefined) return NO_BODY;
    return this.receive(request, owner, route);
  }

  private async receive(request: ReceivedRequest, owner: BodyOwner, route: Route | undefined): Promise<Body> {
    const { limits, budgets } = this;
    const isKnown = isProven(owner.proof);
    const client = clientOf(request, owner.proof);
    const charge = new Charge(isKnown ? budgets.bodies : budgets.anonymousBodies, client);
    owner.charges.push(charge);
    const sink = route?.storesFiles ? this.sink : null;
    const takesFiles = route?.takesFiles && (sink !== null || !route.storesFiles);
    const files = isKnown && takesFiles ? new Charge(budgets.files, client) : null;
    if (files) owner.charges.push(files);
    if (sink || route?.streamsBody) owner.charges.push(this.uploadOf(client));
    const body = await readBody(request.raw, {
      maxBytes: isKnown ? limits.bodyBytes : limits.anonymousBodyBytes,
      timeoutMs: files ? limits.filesMs : limits.bodyMs,
      charge,
      files: files && this.fileRules(files, sink, route),
    });
    for (const { blob } of body.files) if (blob) owner.blobs.push(blob);
    return body;
  }

  /** One of those that may go on at the same time. @throws HttpRefusal */
  private uploadOf(client: ClientKey): Charge {
    const upload = new Charge(this.budgets.uploads, client);
    upload.add(1);
    return upload;
  }

  private fileRules(charge: Charge, sink: FileSink | null, route: Route | undefined): FileRules {
    const { fileBytes } = this.limits;
    const maxBytes = sink?.maxBytes ?? route?.maxFileBytes ?? fileBytes;
    return { maxBytes, maxSentBytes: 2 * Math.max(maxBytes, fileBytes), charge, sink };
  }
}
