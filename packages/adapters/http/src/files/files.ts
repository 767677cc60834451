import {
  DeleteFile,
  type FileEventTypes,
  type FileView,
  ListFiles,
  ResumableUploads,
  UploadFile,
} from '@parley/domain/files';
import { DomainError, type FileId } from '@parley/domain/kernel';
import {
  CreateTemporaryFileUrl,
  type ReadableFile,
  ReadFile,
  ReadTemporaryFile,
  ReadThumbnail,
  SpectateFile,
} from '@parley/domain/messages';
import type { HttpFeature, RouteParts } from '../declarations/feature.js';
import { type Method, type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { unescaped } from '../express/target.js';
import type { LimitRule } from '../limits/rules.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { PresentedList, presentLongList } from '../params/json-lists.js';
import { type Dto, IntegerParam, NoParameters, TextParam } from '../params/params.js';
import { badParameter, type Reply, success } from '../wire/reply.js';
import type { UploadedFile } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import { TUS_EXTENSIONS, TusProtocol } from './resumable-uploads.js';
import { serveFile } from './serve-file.js';

/** Users §16. */
export const attachment = wire.named(
  'Attachment',
  wire.fields({
    id: wire.integer(),
    name: wire.text(),
    path_id: wire.text(),
    size: wire.integer(),
    create_time: wire.integer(),
    message_ids: wire.listOf(wire.integer()),
  }),
);

/** Presents an attachment for lists and events (users §16). */
export const presentFile = ({ id, name, pathId, size, createdAt, messageIds }: FileView) => ({
  id,
  name,
  path_id: pathId,
  size,
  create_time: createdAt,
  message_ids: messageIds,
});

const USED = { upload_space_used: wire.integer() };

/** Users §16. */
export const FILE_EVENTS = {
  'file.added': toAll(form('attachment', { op: wire.oneOf('add'), attachment, ...USED }), ({ file, usedBytes }) => ({
    op: 'add',
    attachment: presentFile(file),
    upload_space_used: usedBytes,
  })),
  'file.changed': toAll(
    form('attachment', { op: wire.oneOf('update'), attachment, ...USED }),
    ({ file, usedBytes }) => ({
      op: 'update',
      attachment: presentFile(file),
      upload_space_used: usedBytes,
    }),
  ),
  'file.removed': toAll(
    form('attachment', { op: wire.oneOf('remove'), attachment: wire.fields({ id: wire.integer() }), ...USED }),
    ({ id, usedBytes }) => ({
      op: 'remove',
      attachment: { id },
      upload_space_used: usedBytes,
    }),
  ),
} satisfies Presenters<keyof FileEventTypes>;

/** `ReadFile` and the like limit themselves to files of the token's conversations. */
const READING_FILE = { action: 'read' } as const;

const PATH = { max: 1000 };

class ResumableUploadDto {
  @TextParam(PATH) path_id!: string;
}

class TemporaryUrlDto {
  @IntegerParam() realm_id!: number;
  @TextParam({ ...PATH, description: 'Path of the file after the id of the organization.' }) filename!: string;
}

class ReadFileDto {
  @TextParam(PATH) path_id!: string;
}

class ReadThumbnailDto {
  /** For example, `2/ab/…/cat.png/840x560.webp`. */
  @TextParam({ ...PATH, description: 'Path of the file and name of the thumbnail format.' })
  path_id_and_format!: string;
}

class ReadTemporaryFileDto {
  @TextParam(PATH) token!: string;
  @TextParam(PATH) name!: string;
}

class DeleteFileDto {
  @IntegerParam({ description: 'Id of the upload.' }) attachment_id!: number;
}

export function fileRoutes({
  publicRealms,
  serverInfo,
}: Pick<RouteParts, 'publicRealms' | 'serverInfo'>): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    ...resumableUploads(new TusProtocol(publicRealms), () => serverInfo.fileLimits.maxFileMib * MIB),
    route('POST', '/user_uploads', {
      summary: 'Upload a file',
      section: 'messages §16.1',
      auth: 'user',
      scope: { action: 'upload' },
      body: 'storedFile',
      dto: NoParameters,
      useCase: UploadFile,
      response: wire.fields({ uri: wire.text(), url: wire.text(), filename: wire.text() }),
      handle: async ({ request, caller, useCase }) => {
        const { blob, filename, mimeType } = theFile(request.files);
        const file = await useCase.execute(caller, { blob, name: unescaped(filename), claimedType: mimeType });
        const url = `/user_uploads/${file.pathId}`;
        return success({ uri: url, url, filename: file.name });
      },
    }),
    route('GET', '/user_uploads/:realm_id/*filename', {
      summary: 'Get a temporary URL of an uploaded file',
      section: 'messages §16.2',
      withoutPage: 'addresses',
      auth: 'user',
      scope: READING_FILE,
      limit: 'none',
      dto: TemporaryUrlDto,
      useCase: CreateTemporaryFileUrl,
      response: wire.fields({ url: wire.text() }),
      errorTypes: FOR_BROWSERS.errorTypes,
      handle: ({ dto, caller, useCase }) =>
        orPage(async () => {
          const { token, name } = await useCase.execute(caller, { pathId: `${dto.realm_id}/${dto.filename}` });
          // Escaped, because clients open the URL unchanged.
          return success({ url: `/user_uploads/temporary/${token}/${encodeURIComponent(name)}` });
        }),
    }),
    route('GET', '/user_uploads/temporary/:token/:name', {
      summary: 'Get an uploaded file by its temporary URL',
      section: 'messages §16.2',
      auth: 'anyone',
      atRoot: true,
      limit: 'none',
      dto: ReadTemporaryFileDto,
      useCase: ReadTemporaryFile,
      response: 'bytes',
      handle: async ({ dto, request, caller, useCase }) => serveFile(await useCase.execute(caller, dto), request),
    }),
    reading('/user_uploads/*path_id', 'Get an uploaded file', (file, request) => serveFile(file, request)),
    reading('/user_uploads/download/*path_id', 'Download an uploaded file', (file, request) =>
      serveFile(file, request, true),
    ),
    ...thumbnails(),
    route('GET', '/attachments', {
      summary: 'List your uploads',
      section: 'users §16',
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      useCase: ListFiles,
      response: wire.fields({ attachments: wire.listOf(attachment), upload_space_used: wire.integer() }),
      present: ({ files, usedBytes }) =>
        presentLongList(scheduler, 'attachments', new PresentedList(files, presentFile), {
          upload_space_used: usedBytes,
        }),
    }),
    route('DELETE', '/attachments/:attachment_id', {
      summary: 'Delete your upload',
      section: 'users §16',
      auth: 'user',
      scope: 'account',
      dto: DeleteFileDto,
      useCase: DeleteFile,
      toInput: ({ attachment_id }) => ({ id: attachment_id as FileId }),
    }),
  ];
}

/** Routes of resumable uploads (messages §16.1). Current clients append a slash to the path. */
function resumableUploads(protocol: TusProtocol, maxBytes: () => number): readonly Route[] {
  const optionsHeaders = () => [
    ...['Tus-Resumable', '1.0.0', 'Tus-Version', '1.0.0'],
    ...['Tus-Extension', TUS_EXTENSIONS, 'Tus-Max-Size', String(maxBytes())],
  ];
  const of = <D extends object>(method: Method, path: string, summary: string, dto: Dto<D>, limit?: LimitRule): Route =>
    route(method, path, {
      summary,
      section: 'messages §16.1',
      withoutPage: 'addresses',
      auth: 'user',
      scope: { action: 'upload' },
      sessions: 'everywhere',
      body: 'stream',
      optionsHeaders,
      dto,
      useCase: ResumableUploads,
      response: 'bytes',
      errorTypes: { default: 'text/plain' },
      ...(limit && { limit }),
      handle: ({ request, caller, useCase }) => protocol.handle(request, caller, useCase),
    });
  return [
    of('POST', '/tus', 'Begin a resumable upload', NoParameters),
    of('POST', '/tus/', 'Begin a resumable upload', NoParameters),
    of('GET', '/tus/*path_id', 'Get the progress of a resumable upload', ResumableUploadDto, 'upload_parts_by_user'),
    of('PATCH', '/tus/*path_id', 'Continue a resumable upload', ResumableUploadDto, 'upload_parts_by_user'),
    of('DELETE', '/tus/*path_id', 'Cancel a resumable upload', ResumableUploadDto),
  ];
}

const MIB = 1024 * 1024;

type Serve = (file: ReadableFile, request: Parameters<typeof serveFile>[1]) => Reply;

/**
 * Serves spectators at the same URL, because the server cannot know in advance if the browser is logged in (protocol
 * §9).
 */
function reading(path: string, summary: string, serve: Serve): Route {
  return route('GET', path, {
    summary,
    section: 'messages §16.2',
    ...FOR_BROWSERS,
    auth: 'user',
    scope: READING_FILE,
    takesKeyParameter: true,
    dto: ReadFileDto,
    useCase: ReadFile,
    response: 'bytes',
    handle: ({ dto, request, caller, useCase }) =>
      orPage(async () => serve(await useCase.execute(caller, { pathId: dto.path_id }), request)),
    forSpectators: spectating(path, ReadFileDto, ({ path_id }) => ({ pathId: path_id, format: null }), serve),
  });
}

function thumbnails(): readonly Route[] {
  const path = '/user_uploads/thumbnail/*path_id_and_format';
  const inputOf = ({ path_id_and_format: of }: ReadThumbnailDto) => {
    const end = of.lastIndexOf('/');
    return { pathId: of.slice(0, end), format: of.slice(end + 1) };
  };
  return [
    route('GET', path, {
      summary: 'Get a thumbnail of an uploaded image',
      section: 'messages §16.2',
      ...FOR_BROWSERS,
      auth: 'user',
      scope: READING_FILE,
      takesKeyParameter: true,
      dto: ReadThumbnailDto,
      useCase: ReadThumbnail,
      response: 'bytes',
      contentType: 'image/*',
      handle: ({ dto, request, caller, useCase }) =>
        orPage(async () => serveFile(await useCase.execute(caller, inputOf(dto)), request)),
      forSpectators: spectating(path, ReadThumbnailDto, inputOf, (file, request) => serveFile(file, request)),
    }),
  ];
}

const spectating = <D extends object>(
  path: string,
  dto: Dto<D>,
  inputOf: (dto: D) => Parameters<SpectateFile['execute']>[1],
  serve: Serve,
): Route =>
  route('GET', path, {
    summary: null,
    ...FOR_BROWSERS,
    auth: 'anyone',
    dto,
    useCase: SpectateFile,
    response: 'bytes',
    handle: ({ dto: name, request, caller, useCase }) =>
      orPage(async () => serve(await useCase.execute(caller, inputOf(name)), request)),
  });

const ERROR_PAGE = 'text/html';
const FOR_BROWSERS = {
  atRoot: true,
  limit: 'none',
  leadsToLogIn: true,
  errorTypes: { 403: ERROR_PAGE, 404: ERROR_PAGE },
} as const;

/** Returns the request's only file. @throws HttpRefusal if it has none or several */
function theFile(files: readonly UploadedFile[]): UploadedFile {
  const [file, ...others] = files;
  if (!file) throw badParameter('You must specify a file to upload');
  if (others.length > 0) throw badParameter('You may only upload one file at a time');
  return file;
}

const PAGES: Readonly<Record<string, number>> = { UNKNOWN_FILE: 404, CANNOT_VIEW_FILE: 403 };

/** Renders rejections as a page, because browsers show them to users (messages §16.2). */
async function orPage(response: () => Promise<Reply>): Promise<Reply> {
  try {
    return await response();
  } catch (error) {
    const status = error instanceof DomainError ? PAGES[error.code] : undefined;
    if (status === undefined) throw error;
    return { status, body: `<p>${(error as DomainError).message}</p>`, contentType: 'text/html; charset=utf-8' };
  }
}

export const FILES = {
  tag: 'Files',
  routes: fileRoutes,
  events: FILE_EVENTS,
  errors: {
    UPLOAD_QUOTA_EXCEEDED: { code: 'REALM_UPLOAD_QUOTA' },
    OWN_UPLOAD_QUOTA_EXCEEDED: { code: 'USER_UPLOAD_QUOTA' },
    UPLOAD_CONFLICT: { status: 409, code: 'UPLOAD_CONFLICT' },
  },
} satisfies HttpFeature;
