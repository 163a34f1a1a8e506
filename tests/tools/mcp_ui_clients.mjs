// Reads tool results (one JSON array on stdin) as the published MCP-UI clients do, and prints what they make of each.
// Run in a folder with @mcp-ui/client (today's), mcp-ui-5 (npm:@mcp-ui/client@5, the last with MCP-UI's own
// renderer), react and react-dom; tests/tools/test_mcp_ui_clients.py does.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const findFrom = (await import("node:module")).createRequire(pathToFileURL(`${process.cwd()}/package.json`));
const load = async (name, conditions = "mjs") => {
  const found = findFrom.resolve(name);
  return import(pathToFileURL(conditions === "mjs" ? found.replace(/index\.js$/, "index.mjs") : found));
};

const today = await load("@mcp-ui/client");
const before = await load("mcp-ui-5");
const { CallToolResultSchema } = await import(
  pathToFileURL(findFrom.resolve("@modelcontextprotocol/sdk/types.js").replace("/cjs/", "/esm/"))
);
const { createElement } = await load("react", "js");
const { renderToStaticMarkup } = await load("react-dom/server", "js");
const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;

const results = JSON.parse(readFileSync(0, "utf8"));
const report = results.map((result) => {
  const parsed = CallToolResultSchema.safeParse(result);
  const content = parsed.success ? parsed.data.content : [];
  return {
    protocol: parsed.success ? "" : parsed.error.message,
    shown: content.map((item) => ({
      today: today.isUIResource(item),
      before: before.isUIResource(item),
      markup: before.isUIResource(item)
        ? renderToStaticMarkup(createElement(before.UIResourceRenderer, { resource: item.resource }))
        : "",
    })),
  };
});
console.log(JSON.stringify({ today: version("@mcp-ui/client"), before: version("mcp-ui-5"), report }));
