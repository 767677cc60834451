import { DeleteFile, ListFiles, UploadFile } from '@parley/domain/files';
import {
  CreateTemporaryFileUrl,
  type ReadableFile,
  ReadFile,
  ReadTemporaryFile,
  ReadThumbnail,
} from '@parley/domain/messages';
import { DomainError, type FileId } from '@parley/domain/shared';
import { Turns } from '../caching/turns.js';
import { presentLongList } from '../events/long-list.js';
import { badParameter } from '../routing/errors.js';
import { IntegerParam, NoParameters, TextParam } from '../routing/params.js';
import { type Reply, success } from '../routing/reply.js';
import type { UploadedFile } from '../routing/request.js';
import { type Route, route } from '../routing/route.js';
import * as wire from '../routing/wire-schema.js';
import { attachment } from './file.answers.js';
import { presentFile } from './file.presenters.js';
import { serveFile } from './serve-file.js';

const PATH = { max: 1000 };

class TemporaryUrlDto {
  @IntegerParam() realm_id!: number;
  @TextParam(PATH) filename!: string;
}

class ReadFileDto {
  @TextParam(PATH) path_id!: string;
}

class ReadThumbnailDto {
  /** `2/ab/…/cat.png/840x560.webp` */
  @TextParam(PATH) path_id_and_format!: string;
}

class ReadTemporaryFileDto {
  @TextParam(PATH) token!: string;
  @TextParam(PATH) name!: string;
}

class DeleteFileDto {
  @IntegerParam() attachment_id!: number;
}

export function fileRoutes(): readonly Route[] {
  const turns = new Turns();
  return [
    route('POST', '/user_uploads', {
      auth: 'user',
      takesFiles: true,
      storesFiles: true,
      dto: NoParameters,
      useCase: UploadFile,
      answer: wire.fields({ uri: wire.text(), url: wire.text(), filename: wire.text() }),
      handle: async ({ request, caller, useCase }) => {
        const { blob, filename, mimeType } = theFile(request.files);
        const file = await useCase.execute(caller, { blob, name: unescaped(filename), claimedType: mimeType });
        const url = `/user_uploads/${file.pathId}`;
        return success({ uri: url, url, filename: file.name });
      },
    }),
    route('GET', '/user_uploads/:realm_id/*filename', {
      auth: 'user',
      limit: 'none',
      dto: TemporaryUrlDto,
      useCase: CreateTemporaryFileUrl,
      answer: wire.fields({ url: wire.text() }),
      handle: ({ dto, caller, useCase }) =>
        orPage(async () => {
          const { token, name } = await useCase.execute(caller, { pathId: `${dto.realm_id}/${dto.filename}` });
          return success({ url: `/user_uploads/temporary/${token}/${name}` });
        }),
    }),
    route('GET', '/user_uploads/temporary/:token/:name', {
      auth: 'anyone',
      atRoot: true,
      limit: 'none',
      dto: ReadTemporaryFileDto,
      useCase: ReadTemporaryFile,
      answer: 'bytes',
      handle: async ({ dto, request, caller, useCase }) => serveFile(await useCase.execute(caller, dto), request),
    }),
    reading('/user_uploads/*path_id', serveFile),
    reading('/user_uploads/download/*path_id', (file, request) => serveFile(file, request, true)),
    route('GET', '/user_uploads/thumbnail/*path_id_and_format', {
      auth: 'user',
      takesKeyParameter: true,
      atRoot: true,
      limit: 'none',
      dto: ReadThumbnailDto,
      useCase: ReadThumbnail,
      answer: 'bytes',
      handle: ({ dto, request, caller, useCase }) =>
        orPage(async () => {
          const { path_id_and_format: path } = dto;
          const end = path.lastIndexOf('/');
          const input = { pathId: path.slice(0, end), format: path.slice(end + 1) };
          return serveFile(await useCase.execute(caller, input), request);
        }),
    }),
    route('GET', '/attachments', {
      auth: 'user',
      dto: NoParameters,
      useCase: ListFiles,
      answer: wire.fields({ attachments: wire.listOf(attachment), upload_space_used: wire.integer() }),
      present: ({ files, usedBytes }) =>
        presentLongList(turns, 'attachments', files, presentFile, { upload_space_used: usedBytes }),
    }),
    route('DELETE', '/attachments/:attachment_id', {
      auth: 'user',
      dto: DeleteFileDto,
      useCase: DeleteFile,
      toInput: ({ attachment_id }) => ({ id: attachment_id as FileId }),
    }),
  ];
}

const reading = (path: string, serve: (file: ReadableFile, request: Parameters<typeof serveFile>[1]) => Reply): Route =>
  route('GET', path, {
    auth: 'user',
    takesKeyParameter: true,
    atRoot: true,
    limit: 'none',
    dto: ReadFileDto,
    useCase: ReadFile,
    answer: 'bytes',
    handle: ({ dto, request, caller, useCase }) =>
      orPage(async () => serve(await useCase.execute(caller, { pathId: dto.path_id }), request)),
  });

/** The one file of a request. @throws HttpRefusal */
function theFile(files: readonly UploadedFile[]): UploadedFile {
  const [file, ...others] = files;
  if (!file) throw badParameter('You must specify a file to upload');
  if (others.length > 0) throw badParameter('You may only upload one file at a time');
  return file;
}

/** Some clients escape what HTTP libraries do not let into a header. */
function unescaped(filename: string): string {
  try {
    return decodeURIComponent(filename);
  } catch {
    return filename;
  }
}

const PAGES: Readonly<Record<string, number>> = { UNKNOWN_FILE: 404, CANNOT_VIEW_FILE: 403 };

/** Browsers show these refusals to people (messages §16.2). */
async function orPage(answer: () => Promise<Reply>): Promise<Reply> {
  try {
    return await answer();
  } catch (error) {
    const status = error instanceof DomainError ? PAGES[error.code] : undefined;
    if (status === undefined) throw error;
    return { status, body: `<p>${(error as DomainError).message}</p>`, contentType: 'text/html; charset=utf-8' };
  }
}
