import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Person, TestOrganization } from './testing/test-organization.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../..');
const GENERATOR = join(root, 'packages/testing/node_modules/openapi-typescript/bin/cli.js');
const COMPILER = join(root, 'node_modules/typescript/bin/tsc');

const STORY = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

type Event = components['schemas']['Event'];

const [baseUrl = '', email, apiKey] = process.argv.slice(2);
const { GET, POST, PATCH } = createClient<paths>({
  baseUrl,
  headers: { Authorization: 'Basic ' + btoa(email + ':' + apiKey), 'Content-Type': 'application/x-www-form-urlencoded' },
  bodySerializer: (body: object | undefined) =>
    new URLSearchParams(
      Object.entries(body ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
});

const describe = (event: Event): string => {
  switch (event.type) {
    case 'message':
      return 'message ' + event.message.content + ' ' + event.flags.length;
    case 'update_message':
      return 'update ' + event.rendered_content + ' ' + event.message_ids.length;
    default:
      return event.type;
  }
};

const me = await GET('/api/v1/users/me');
await POST('/api/v1/users/me/subscriptions', { body: { subscriptions: [{ name: 'orders' }] } });
if (!me.data) throw new Error('refused');
const listed = await POST('/api/v1/messages', { body: { type: 'direct', to: [me.data.user_id], content: 'Paid' } });
const emoji = await GET('/static/emoji/emoji_api.json', { parseAs: 'text' });
const queue = await POST('/api/v1/register', { body: { event_types: ['message', 'update_message'], apply_markdown: true } });
const sent = await POST('/api/v1/messages', { body: { type: 'channel', to: 'orders', topic: '7', content: 'Paid' } });
if (!queue.data || !sent.data || !listed.data) throw new Error('refused');
const path = { message_id: sent.data.id };
await PATCH('/api/v1/messages/{message_id}', { params: { path }, body: { content: 'Paid *twice*' } });
const page = await GET('/api/v1/messages', { params: { query: { anchor: String(sent.data.id), num_before: 0, num_after: 0 } } });
const heard: Event[] = [];
while (heard.length < 2) {
  const query = { queue_id: queue.data.queue_id, last_event_id: heard.at(-1)?.id ?? -1 };
  heard.push(...((await GET('/api/v1/events', { params: { query } })).data?.events ?? []));
}
const { error, response } = await GET('/api/v1/streams/{stream_id}', { params: { path: { stream_id: 999_999 } } });
const { messages = [] } = page.data ?? {};
console.log(
  JSON.stringify([
    me.data.full_name,
    messages.map(({ id, content, sender_id }) => [id === path.message_id, content, sender_id === me.data.user_id]),
    heard.map(describe),
    emoji.data?.includes('octopus'),
    [response.status, error?.code],
  ]),
);
// @ts-expect-error: a message needs a content.
void (() => POST('/api/v1/messages', { body: { type: 'channel', to: 'orders' } }));
// @ts-expect-error: there is no such operation.
void (() => GET('/api/v1/pigeons'));
`;

const CONFIG = {
  compilerOptions: { target: 'es2022', module: 'nodenext', strict: true, types: ['node'], outDir: 'out' },
  include: ['*.ts'],
};

/** Programs of the generator and its Python, which `npm run endurance` installs. */
const PYTHON = join(root, 'node_modules/.cache/openapi-python-client/bin');

const PYTHON_STORY = `
import base64, json, sys
from io import BytesIO
from parley_client import AuthenticatedClient
from parley_client.api.events import get_events, post_register
from parley_client.api.files import get_root_static_emoji_emoji_api_json, post_user_uploads
from parley_client.api.messages import get_messages_message_id, post_messages, post_messages_flags
from parley_client.api.users import get_users_me
from parley_client import models, types

url, email, api_key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, prefix="Basic", token=base64.b64encode(f"{email}:{api_key}".encode()).decode())
me = get_users_me.sync(client=client)
# The generator ignores \`encoding\`, so lists are passed as JSON.
event_types = json.dumps(["message", "update_message_flags"])
queue = post_register.sync(client=client, body=models.PostRegisterBody(apply_markdown=True, event_types=event_types))
def send(to, type_, **body):
    return post_messages.sync(client=client, body=models.PostMessagesBody(type_=type_, to=to, **body)).id
to_text = send(email, models.PostMessagesBodyType.DIRECT, content="To text")
to_list = send(json.dumps([me.user_id]), models.PostMessagesBodyType.DIRECT, content="To a *list*")
flags = models.PostMessagesFlagsBody(messages=json.dumps([to_list]), op="add", flag="starred")
post_messages_flags.sync(client=client, body=flags)
events, last = [], -1
while len(events) < 3:
    new = get_events.sync(client=client, queue_id=queue.queue_id, last_event_id=last).events
    events, last = events + new, new[-1].id
heard = [type(event).__name__ + " " + (event.message.content if event.type_ == "message" else event.flag) for event in events]
upload = models.PostUserUploadsBody(filename=types.File(payload=BytesIO(b"Paid"), file_name="paid.txt"))
stored = post_user_uploads.sync(client=client, body=upload)
emoji = get_root_static_emoji_emoji_api_json.sync(client=client)
refused = get_messages_message_id.sync(client=client, message_id=999999)
print(json.dumps([
    me.full_name, heard, stored.filename, "octopus" in str(emoji.to_dict()),
    type(refused).__name__, refused.code,
]))
`;

/** The generator knows no content type of pictures. */
const PYTHON_CONFIG = JSON.stringify({ content_type_overrides: { 'image/*': 'application/octet-stream' } });

let organization: TestOrganization;
let ann: Person;
let url: string;
/** Folder with the document, in which a client is generated. */
let directory: string;
beforeEach(async () => {
  organization = await TestOrganization.withOrganization();
  ann = await organization.addPerson('Ann', 'owner');
  ({ url } = await organization.serve());
  directory = mkdtempSync(join(tmpdir(), 'parley-generated-'));
  writeFileSync(join(directory, 'openapi.json'), await (await fetch(`${url}/api/v1/openapi.json`)).text());
});
afterEach(async () => {
  rmSync(directory, { recursive: true, force: true });
  await organization.close();
});

describe('client generated by openapi-typescript', () => {
  it('compiles, sends, reads and receives messages', async () => {
    const write = (name: string, content: string) => writeFileSync(join(directory, name), content);
    mkdirSync(join(directory, 'node_modules/@types'), { recursive: true });
    for (const name of ['openapi-fetch', '@types/node']) {
      symlinkSync(join(root, 'packages/testing/node_modules', name), join(directory, 'node_modules', name));
    }
    write('story.ts', STORY);
    write('package.json', '{ "type": "module" }');
    write('tsconfig.json', JSON.stringify(CONFIG));
    const node = (...args: string[]) => run(process.execPath, args, { cwd: directory });
    await node(GENERATOR, 'openapi.json', '-o', 'api.ts');
    const complaints = await node(COMPILER, '-p', '.').then(
      () => '',
      ({ stdout }) => stdout,
    );
    expect(complaints).toBe('');
    const { stdout } = await node('out/story.js', url, ann.email, ann.apiKey);
    expect(JSON.parse(stdout)).toEqual([
      'Ann',
      [[true, '<p>Paid <em>twice</em></p>', true]],
      ['message <p>Paid</p> 0', 'update <p>Paid <em>twice</em></p> 1'],
      true,
      [400, 'BAD_REQUEST'],
    ]);
  });
});

const describePython = existsSync(join(PYTHON, 'openapi-python-client')) ? describe : describe.skip;

describePython('client generated by openapi-python-client (skipped if not installed)', () => {
  it('contains every operation without warnings, and sends, receives events and gets files', async () => {
    writeFileSync(join(directory, 'story.py'), PYTHON_STORY);
    // The generator formats its output by ruff, which it finds by PATH.
    const env = { ...process.env, PATH: `${PYTHON}:${process.env.PATH}`, PYTHONPATH: join(directory, 'client') };
    const options = { cwd: directory, env };
    writeFileSync(join(directory, 'python.json'), PYTHON_CONFIG);
    const args = [
      'generate',
      '--path',
      'openapi.json',
      '--output-path',
      'client',
      '--config',
      'python.json',
      '--fail-on-warning',
    ];
    const generated = await run(join(PYTHON, 'openapi-python-client'), args, options).catch((error) => error);
    expect([generated.stdout.trim(), generated.stderr]).toEqual(['Generating client', '']);
    const { stdout } = await run(join(PYTHON, 'python3'), ['story.py', url, ann.email, ann.apiKey], options);
    expect(JSON.parse(stdout)).toEqual([
      'Ann',
      ['MessageEvent <p>To text</p>', 'MessageEvent <p>To a <em>list</em></p>', 'UpdateMessageFlagsEvent1 starred'],
      'paid.txt',
      true,
      'Error',
      'BAD_REQUEST',
    ]);
  }, 120_000);
});

const FETCH_STORY = `
import { Configuration, EventsApi, MessagesApi, ResponseError, UsersApi } from './client/index';

const [basePath = '', username = '', password = ''] = process.argv.slice(2);
const configuration = new Configuration({ basePath, username, password });
const messages = new MessagesApi(configuration);
const events = new EventsApi(configuration);
const form = (values: Record<string, string>) => async () => ({ body: new URLSearchParams(values) });

const me = await new UsersApi(configuration).getUsersMe();
const queue = await events.postRegister({}, form({ event_types: '["message"]' }));
const message = { type: 'direct', content: 'Paid' } as const;
const sent = await messages.postMessages(message, form({ ...message, to: JSON.stringify([me.userId]) }));
await messages.patchMessagesMessageId({ messageId: sent.id, content: 'Paid *twice*' });
const page = await messages.getMessages({ anchor: String(sent.id), numBefore: 0, numAfter: 0 });
const received = await events.getEventsRaw({ queueId: queue.queueId!, lastEventId: -1 });
const error = await messages.getMessagesMessageId({ messageId: 999_999 }).catch((caught: unknown) => caught);
console.log(
  JSON.stringify([
    me.fullName,
    page.messages.map(({ id, content }) => [id === sent.id, content]),
    (await received.raw.json()).events.map((event: { type: string }) => event.type),
    error instanceof ResponseError && error.response.status,
  ]),
);
`;

const BUNDLE = ['--bundle', '--platform=node', '--format=esm', '--outfile=story.mjs', '--log-level=error'];

/** Program of the generator, which needs Java; `npm run endurance` installs it. */
const OPENAPI_GENERATOR = join(root, 'node_modules/.cache/openapi-generator-cli/bin/openapi-generator-cli');
const describeIf = (isPossible: boolean) => (isPossible ? describe : describe.skip);
const hasGenerator = existsSync(OPENAPI_GENERATOR);
const hasProgram = (...command: readonly [string, ...string[]]) => spawnSync(command[0], command.slice(1)).status === 0;

/** Generates a client into the folder `client`. */
const generate = (generator: string, ...options: readonly string[]) =>
  run(OPENAPI_GENERATOR, ['generate', '-i', 'openapi.json', '-g', generator, '-o', 'client', ...options], {
    cwd: directory,
    maxBuffer: 1 << 28,
  });
/** Omits tests and documents of the client. */
const CODE_ONLY = ['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'];

describeIf(hasGenerator)('client generated by openapi-generator for TypeScript (skipped if not installed)', () => {
  it('compiles, sends, reads and receives messages', async () => {
    const options = { cwd: directory };
    writeFileSync(join(directory, 'story.ts'), FETCH_STORY);
    await generate('typescript-fetch');
    const compilerOptions = {
      ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true },
      ...{ lib: ['es2022', 'dom'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const complaints = await run(process.execPath, [COMPILER, '-p', '.'], options).then(
      () => '',
      ({ stdout }) => stdout,
    );
    expect(complaints).toBe('');
    await run(join(root, 'node_modules/.bin/esbuild'), ['story.ts', ...BUNDLE], options);
    const { stdout } = await run(process.execPath, ['story.mjs', url, ann.email, ann.apiKey], options);
    expect(JSON.parse(stdout)).toEqual(['Ann', [[true, '<p>Paid <em>twice</em></p>']], ['message'], 400]);
  }, 180_000);
});

const GO_STORY = `
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	parley "example.com/parley/client"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	auth := parley.BasicAuth{UserName: os.Args[2], Password: os.Args[3]}
	ctx := context.WithValue(context.Background(), parley.ContextBasicAuth, auth)
	configuration := parley.NewConfiguration()
	configuration.Servers = parley.ServerConfigurations{{URL: os.Args[1]}}
	client := parley.NewAPIClient(configuration)

	me := must(client.UsersAPI.GetUsersMe(ctx).Execute())
	to := []parley.AddresseeEntry{{Int64: &me.UserId}}
	send := client.MessagesAPI.PostMessages(ctx).Type_("direct").Content("Paid *twice*")
	sent := must(send.To(parley.Addressee{ArrayOfAddresseeEntry: &to}).Execute())
	page := must(client.MessagesAPI.GetMessages(ctx).Anchor("newest").NumBefore(5).NumAfter(0).Execute())
	_, response, _ := client.MessagesAPI.GetMessagesMessageId(ctx, 999999).Execute()
	last := page.Messages[len(page.Messages)-1]
	result := []any{me.FullName, last.Id == sent.Id, last.Content, last.DisplayRecipient.ArrayOfParticipant != nil, response.StatusCode}
	text, _ := json.Marshal(result)
	fmt.Println(string(text))
}
`;

const JAVA_STORY = `
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.UsersApi;
import org.openapitools.client.model.*;

public class Story {
  /** The generator writes a union into a form by its \`toString\`. */
  static Addressee to(String json) {
    return new Addressee() {
      @Override
      public String toString() {
        return json;
      }
    };
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(args[0]);
    client.setUsername(args[1]);
    client.setPassword(args[2]);
    GetUsersMe200Response me = new UsersApi(client).getUsersMe();
    MessagesApi messages = new MessagesApi(client);
    Long sent = messages
        .postMessages("direct", "Paid *twice*", to("[" + me.getUserId() + "]"), null, null, null, null, null)
        .getId();
    GetMessages200Response page = messages
        .getMessages("newest", null, null, 5L, 0L, null, null, null, null, null, null, null);
    FoundMessage last = page.getMessages().get(page.getMessages().size() - 1);
    int status = 0;
    try {
      messages.getMessagesMessageId(999999L, null, null);
    } catch (ApiException refused) {
      status = refused.getCode();
    }
    boolean isList = last.getDisplayRecipient().getActualInstance() instanceof List;
    List<Object> result = List.of(me.getFullName(), sent.equals(last.getId()), last.getContent(), isList, status);
    System.out.println(client.getJSON().serialize(result));
  }
}
`;

const SENT_AND_READ = ['Ann', true, '<p>Paid <em>twice</em></p>', true, 400];

describeIf(hasGenerator && hasProgram('go', 'version'))(
  'client generated by openapi-generator for Go (skipped without Go or the generator)',
  () => {
    it('compiles, sends and reads a page of messages', async () => {
      await generate('go', '--additional-properties=packageName=parley', ...CODE_ONLY);
      const client = join(directory, 'client');
      writeFileSync(join(client, 'go.mod'), 'module example.com/parley/client\n\ngo 1.23\n');
      mkdirSync(join(client, 'story'));
      writeFileSync(join(client, 'story/main.go'), GO_STORY);
      // The client imports no other module.
      const env = { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local' };
      const { stdout } = await run('go', ['run', './story', url, ann.email, ann.apiKey], { cwd: client, env });
      expect(JSON.parse(stdout)).toEqual(SENT_AND_READ);
    }, 600_000);
  },
);

describeIf(hasGenerator && hasProgram('mvn', '--version'))(
  'client generated by openapi-generator for Java (skipped without Maven or the generator)',
  () => {
    it('compiles, sends and reads a page of messages', async () => {
      await generate('java', ...CODE_ONLY);
      const client = join(directory, 'client');
      writeFileSync(join(client, 'src/main/java/Story.java'), JAVA_STORY);
      const goals = ['compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath'];
      const args = ['-q', '-B', '-DskipTests', ...goals];
      const complaints = await run('mvn', args, { cwd: client }).then(
        () => '',
        ({ stdout }) => stdout,
      );
      expect(complaints).toBe('');
      const classpath = `target/classes:${readFileSync(join(client, 'classpath'), 'utf8').trim()}`;
      const { stdout } = await run('java', ['-cp', classpath, 'Story', url, ann.email, ann.apiKey], { cwd: client });
      expect(JSON.parse(stdout)).toEqual(SENT_AND_READ);
    }, 600_000);
  },
);
