//! Buckets of S3, Google Cloud Storage and Azure, by the crate `object_store`.

use crate::transport::HyperConnector;
use crate::{Bucket, BucketError, BucketObject, ObjectInfo, Version};
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt,
    PutMode, PutOptions, PutPayload, RetryConfig, UpdateVersion,
};
use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The time for one request with all its attempts.
const DEADLINE: Duration = Duration::from_secs(20);

/// A bucket behind HTTP.
#[derive(Debug)]
pub struct CloudBucket {
    store: Arc<dyn ObjectStore>,
    /// The part of the address after the bucket's name.
    prefix: Path,
    runtime: Runtime,
}

impl CloudBucket {
    /// Opens the bucket of an address. Nothing is sent.
    pub fn open(address: &str) -> Result<CloudBucket, BucketError> {
        let wrong = |reason: String| BucketError::Address { address: address.to_owned(), reason };
        let url = url::Url::parse(address).map_err(|e| wrong(e.to_string()))?;
        let prefix = Path::from_url_path(url.path()).map_err(|e| wrong(e.to_string()))?;
        let connector = HyperConnector::new().map_err(|e| wrong(e.to_string()))?;
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(50),
                max_backoff: Duration::from_secs(2),
                base: 2.0,
            },
            max_retries: 6,
            retry_timeout: DEADLINE / 2,
        };
        let built: Result<Arc<dyn ObjectStore>, Error> = match url.scheme() {
            "s3" => {
                let endpoint = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
                    .iter()
                    .find_map(|name| std::env::var(name).ok());
                // A server at a plain address is the user's own, for example on this machine.
                let is_plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
                AmazonS3Builder::from_env()
                    .with_url(address)
                    .with_client_options(ClientOptions::new().with_allow_http(is_plain))
                    .with_retry(retry)
                    .with_http_connector(connector)
                    .build()
                    .map(|store| Arc::new(store) as _)
            }
            "gs" => GoogleCloudStorageBuilder::from_env()
                .with_url(address)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
            _ => MicrosoftAzureBuilder::from_env()
                .with_url(address)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
        };
        let store = built.map_err(|e| wrong(e.to_string()))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|e| wrong(e.to_string()))?;
        Ok(CloudBucket { store, prefix, runtime })
    }

    fn path(&self, key: &str) -> Path {
        self.prefix.parts().chain(Path::from(key).parts()).collect()
    }

    /// Runs a request on the bucket's own thread, and waits for it. The caller may be any thread,
    /// also one that runs futures itself.
    fn wait<T: Send + 'static>(
        &self,
        key: &str,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, BucketError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.runtime.spawn(async move {
            let done = tokio::time::timeout(DEADLINE, request).await;
            // Nobody waits any more if this fails.
            let _ = sender.send(done);
        });
        let late = || BucketError::Failed { key: key.to_owned(), reason: "no answer".to_owned() };
        let done = receiver.recv().map_err(|_| late())?;
        done.map_err(|_| late())?.map_err(|e| failed(key, e))
    }
}

fn failed(key: &str, e: Error) -> BucketError {
    let key = key.to_owned();
    match e {
        Error::NotFound { .. } => BucketError::Missing(key),
        Error::AlreadyExists { .. } | Error::Precondition { .. } => BucketError::Changed(key),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            BucketError::Denied { key, reason: e.to_string() }
        }
        e => BucketError::Failed { key, reason: e.to_string() },
    }
}

fn version_of(tag: Option<String>, key: &str) -> Result<Version, BucketError> {
    let none = || BucketError::Failed { key: key.to_owned(), reason: "no ETag".to_owned() };
    tag.map(Version).ok_or_else(none)
}

impl Bucket for CloudBucket {
    fn get(&self, key: &str, limit: u64) -> Result<Option<BucketObject>, BucketError> {
        let (store, path) = (self.store.clone(), self.path(key));
        let got = self.wait(key, async move {
            let got = store.get(&path).await?;
            let (size, tag) = (got.meta.size, got.meta.e_tag.clone());
            Ok((tag, if size > limit { None } else { Some(got.bytes().await?) }))
        });
        match got {
            Ok((tag, Some(bytes))) => {
                Ok(Some(BucketObject { bytes: bytes.into(), version: version_of(tag, key)? }))
            }
            Ok((_, None)) => Err(BucketError::TooLarge(key.to_owned())),
            Err(BucketError::Missing(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn get_range(&self, key: &str, start: u64, len: u64) -> Result<Vec<u8>, BucketError> {
        let (store, path) = (self.store.clone(), self.path(key));
        let range = Some(GetRange::Bounded(start..start.saturating_add(len)));
        let bytes = self.wait(key, async move {
            let options = GetOptions { range, ..GetOptions::default() };
            store.get_opts(&path, options).await?.bytes().await
        })?;
        if bytes.len() as u64 == len {
            return Ok(bytes.into());
        }
        Err(BucketError::Failed { key: key.to_owned(), reason: "a part is missing".to_owned() })
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), BucketError> {
        let (store, path) = (self.store.clone(), self.path(key));
        let payload = PutPayload::from(bytes.to_vec());
        self.wait(key, async move { store.put(&path, payload).await }).map(drop)
    }

    fn put_if(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<Version, BucketError> {
        let (store, path) = (self.store.clone(), self.path(key));
        let payload = PutPayload::from(bytes.to_vec());
        let mode = match expected {
            Some(Version(tag)) => {
                PutMode::Update(UpdateVersion { e_tag: Some(tag.clone()), version: None })
            }
            None => PutMode::Create,
        };
        let options = PutOptions { mode, ..PutOptions::default() };
        let put = self.wait(key, async move { store.put_opts(&path, payload, options).await });
        match put {
            Ok(put) => version_of(put.e_tag, key),
            // It was removed, so that it has not the expected version.
            Err(BucketError::Missing(key)) => Err(BucketError::Changed(key)),
            Err(e) => Err(e),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, BucketError> {
        let (store, path) = (self.store.clone(), self.path(prefix));
        let before = self.prefix.parts().count();
        self.wait(prefix, async move {
            let mut found: Vec<ObjectInfo> = store
                .list(Some(&path))
                .map_ok(|meta| ObjectInfo {
                    key: meta.location.parts().skip(before).collect::<Path>().to_string(),
                    len: meta.size,
                    modified: meta.last_modified.into(),
                })
                .try_collect()
                .await?;
            found.sort_by(|a, b| a.key.cmp(&b.key));
            Ok(found)
        })
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        let (store, path) = (self.store.clone(), self.path(key));
        match self.wait(key, async move { store.delete(&path).await }) {
            Ok(()) | Err(BucketError::Missing(_)) => Ok(()),
            Err(e) => Err(e),
        }
    }
}
