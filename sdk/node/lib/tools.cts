// Host tools: functions of this program that guests may call.

import { InvalidError } from "./shared/errors.js";
import { native, type NativeTool, type NativeToolCalls } from "./native.cjs";

/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema of a library's: Standard Schema with JSON Schema (standardschema.dev), as zod, ArkType and Valibot have it. */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

/** What such a schema says of a value. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** A call, as its tool sees it. */
export interface ToolContext {
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}

/** A function that guests may call. */
export interface HostTool<T = any> {
  /** The name by which they call it: 1 to 128 letters, digits and `_ . - / :`. */
  readonly name: string;
  /** What it does, for whoever may call it. */
  readonly description?: string;
  /** Of the arguments, which are an object; any if nothing is said. */
  readonly schema?: JsonSchema | StandardSchema<T>;
  /** Of the results: one that does not fit is a failure of the tool. */
  readonly output?: JsonSchema;
  /** Seconds that it may take, in place of the policy's. */
  readonly timeout?: number;
  /**
   * Carries a call out. What it gives, or its promise gives, goes to the guest as JSON; what it throws as `NAME: message`, and a
   * `ToolError` as its message alone.
   */
  readonly execute: (args: T, context: ToolContext) => unknown;
}

/** Thrown by a tool to tell its caller in the sandbox why there is no result, in these words. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ToolError";
  }
}

/** A tool as it is given: with this TypeScript knows the arguments of `execute` by the schema. */
export function tool<T = any>(given: HostTool<T>): HostTool<T> {
  return given;
}

function isStandard<T>(schema: HostTool<T>["schema"]): schema is StandardSchema<T> {
  return schema !== undefined && "~standard" in schema;
}

/** A tool without its functions, for the native module. */
function toolDefinition(tool: HostTool): string {
  const { name, description, schema = {}, output, timeout } = tool;
  if (typeof tool.execute !== "function") throw new InvalidError(`host tool: ${name}: it has no function 'execute'`);
  let input: unknown = schema;
  if (isStandard(schema)) {
    const converter = schema["~standard"].jsonSchema;
    if (converter === undefined) throw new InvalidError(`host tool: ${name}: its schema has no JSON Schema`);
    input = converter.input({ target: "draft-2020-12" });
  }
  return JSON.stringify({ name, description, schema: input, output, timeout });
}

/** What a tool gives for arguments. */
async function carriedOut(tool: HostTool, args: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isStandard(tool.schema)) return tool.execute(args, { signal });
  const result = await tool.schema["~standard"].validate(args);
  if (result.issues !== undefined) throw new ToolError(result.issues.map((issue) => issue.message).join("; "));
  return tool.execute(result.value, { signal });
}

function why(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof ToolError) return thrown.message || "the tool has failed";
  return thrown.message ? `${thrown.name}: ${thrown.message}` : thrown.name;
}

/** Tools for the native module, and their calls. */
export function nativeTools(tools: Iterable<HostTool>): [NativeTool[], NativeToolCalls] {
  const calls = new native.ToolCalls();
  const aborting = new Map<number, AbortController>();
  const made = Array.from(tools, (tool) => ({
    definition: toolDefinition(tool),
    act: (call: number, args: string | null) => {
      if (args === null) {
        aborting.get(call)?.abort();
        return;
      }
      const controller = new AbortController();
      aborting.set(call, controller);
      carriedOut(tool, JSON.parse(args), controller.signal)
        // A function that gives nothing gives null.
        .then((value) => JSON.stringify(value ?? null) ?? "null")
        .then(
          (text) => calls.settle(call, true, text),
          (error: unknown) => calls.settle(call, false, why(error)),
        )
        .finally(() => aborting.delete(call));
    },
  }));
  return [made, calls];
}
