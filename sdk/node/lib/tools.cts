// Host tools: functions of this program that guests may call.

import { InvalidError } from "./shared/errors.js";
import { native, type NativeTool, type NativeToolCalls } from "./native.cjs";

/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema made by a library such as zod, ArkType or Valibot: a Standard Schema that can be
 * converted to JSON Schema (standardschema.dev).
 */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

/** The result of validating a value with such a schema. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** The context of a tool call. */
export interface ToolContext {
  /** Aborted when the result is no longer wanted. */
  readonly signal: AbortSignal;
}

/** A function that guests may call. */
export interface HostTool<T = any> {
  /** The tool's name: 1 to 128 letters, digits and `_ . - / :`. */
  readonly name: string;
  /** A description of what the tool does, for its callers. */
  readonly description?: string;
  /** The schema of the arguments, which are an object. By default any are accepted. */
  readonly schema?: JsonSchema | StandardSchema<T>;
  /** The schema of the results. A result that is not valid counts as a failure of the tool. */
  readonly output?: JsonSchema;
  /** The time limit of a call in seconds, which replaces the policy's. */
  readonly timeout?: number;
  /**
   * Carries out a call. The guest gets the result as JSON; a promise is awaited. If the function
   * throws, the guest gets `NAME: message`, or only the message of a `ToolError`.
   */
  readonly execute: (args: T, context: ToolContext) => unknown;
}

/** An error that a tool throws to fail. Its caller in the sandbox gets exactly this message. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ToolError";
  }
}

/** Returns its argument. TypeScript then infers the arguments of `execute` from the schema. */
export function tool<T = any>(given: HostTool<T>): HostTool<T> {
  return given;
}

function isStandard<T>(schema: HostTool<T>["schema"]): schema is StandardSchema<T> {
  return schema !== undefined && "~standard" in schema;
}

/** Returns the description of a tool as JSON, for the native module. */
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

/** Validates the arguments of a call and carries it out. Throws the reason if it fails. */
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

/** Returns tools for the native module, and the object by which their calls are settled. */
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
        // The result of a function that returns nothing is null.
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
