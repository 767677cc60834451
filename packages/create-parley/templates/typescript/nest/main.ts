import 'reflect-metadata';
import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  Get,
  Header,
  HttpException,
  Inject,
  Module,
  Post,
  Query,
  Redirect,
  Req,
  Res,
} from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core';
import type { DomainError, Parley } from 'parley';
import { ChatModule, enterChat, port, returnAddress } from './chat.js';
import { personOf, startSession } from './log-in.js';
import { page } from './page.js';

@Controller()
class Pages {
  constructor(@Inject('PARLEY') private readonly parley: Parley) {}

  @Get()
  @Header('Content-Type', 'text/html')
  start(@Req() request: { headers: { cookie?: string } }, @Query('next') next?: string): string {
    return page(personOf(request), next);
  }

  @Post('log-in')
  @Redirect('/', 303)
  async logIn(
    @Body() { name = '', next }: { name?: string; next?: string } = {},
    @Res({ passthrough: true }) response: { header(name: string, value: string): void },
  ) {
    const person = { id: name.trim().toLowerCase(), name };
    await enterChat(this.parley, person);
    response.header('Set-Cookie', startSession(person));
    return { url: returnAddress(next), statusCode: 303 };
  }
}

@Module({ imports: [ChatModule], controllers: [Pages] })
class AppModule {}

/** Passes on the status of the chat's refusals, to which Nest responds with 500. */
@Catch()
class ChatErrors extends BaseExceptionFilter {
  catch(error: Partial<DomainError> | null, host: ArgumentsHost): void {
    const { name, status = 500, code, message } = error ?? {};
    super.catch(name === 'DomainError' ? new HttpException({ code, message }, status) : error, host);
  }
}

async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.use('/chat', app.get('PARLEY').router); // runs before Nest's own body parser, which `listen` adds
  app.useGlobalFilters(new ChatErrors(app.get(HttpAdapterHost).httpAdapter));
  app.enableShutdownHooks();
  await app.listen(port);
  console.log(`http://localhost:${port}`);
}
void start();
